import { exportAttention, exportAudit, exportDeliveries, exportOrders, exportSubscriptions } from '@ponte/contracts'
import type { z } from 'zod'
import { api, me, type Operation } from './operation'

interface ListFile {
  path: string
  name: string
  tags: { key: string; session: string }
  of: string
  query: z.ZodType
  columns?: string
}

/** Lists that are answered as a file too, all pages of each. */
const lists: readonly ListFile[] = [
  {
    ...{ path: '/orders.csv', name: 'Orders', tags: { key: 'Orders', session: 'Dashboard' }, of: 'orders', query: exportOrders },
    columns: '`gross` is what was confirmed, `share` what of it is yours. ',
  },
  {
    ...{ path: '/attention.csv', name: 'Attention', tags: { key: 'Orders', session: 'Dashboard' }, query: exportAttention },
    of: 'money that does not simply settle',
    columns: '`gross` is what came, `taken` what of it the order takes, `left_over` the rest. ',
  },
  {
    ...{ path: '/subscriptions.csv', name: 'Subscriptions', tags: { key: 'Subscriptions', session: 'Dashboard' } },
    ...{ of: 'subscriptions', query: exportSubscriptions },
  },
  {
    ...{ path: '/deliveries.csv', name: 'Deliveries', tags: { key: 'Events', session: 'Dashboard' } },
    ...{ of: 'webhook deliveries', query: exportDeliveries },
  },
  {
    ...{ path: '/audit.csv', name: 'Audit', tags: { key: 'Merchant', session: 'Merchant' } },
    ...{ of: 'who changed what', query: exportAudit },
  },
]

export const files: Operation[] = lists.flatMap(({ path, name, tags, of, query, columns = '' }) => {
  const file = {
    summary: `All pages of a list of ${of} as one file`,
    description:
      `RFC 4180 in UTF-8, in the order of the list. ${columns}A text that a spreadsheet would take for a formula begins with an apostrophe. ` +
      'A file that breaks off is not complete.',
    query,
    answers: { 200: 'csv' },
  } as const
  return [
    api('get', path, { id: `export${name}`, tag: tags.key, ...file }),
    me('get', path, { id: `exportMy${name}`, tag: tags.session, ...file }),
  ]
})
