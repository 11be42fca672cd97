import type { listsPt } from './lists-pt'

export const listsEn: typeof listsPt = {
  lists: {
    by: 'Date of',
    network: 'Network',
    created: 'Creation',
    paid: 'Payment',
    download: 'Download CSV',
    from: 'From',
    to: 'To',
    searching: 'Nothing among the 5,000 rows searched',
    searchingText: 'The search goes on from there, with the button below.',
  },
}
