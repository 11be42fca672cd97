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
  find: {
    title: 'Find',
    hint: 'A page, or what you know of an order',
    all: (text: string) => `All orders with “${text}”`,
    found: (count: string) => (count === '0' ? 'No order found' : count === '1' ? '1 order' : `${count} orders`),
  },
}
