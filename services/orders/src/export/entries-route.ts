import { operations } from '@ponte/contracts'
import { sendCsv, serve } from '@ponte/service-kit'
import type { Router } from 'express'
import { entryBody } from '../ledger/entry'
import type { Store } from '../store'
import { brazilianColumns, internationalColumns } from './entries-csv'

const PAGE = 20

export function entriesRoutes(router: Router, { store }: { store: Store }): void {
  serve(router, operations.listEntries, async ({ query, terms }, _req, res) => {
    const limit = query.limit ?? PAGE
    const found = await store.ledger.list(terms.merchant_id, query, limit + 1)
    const data = found.slice(0, limit).map(entryBody)
    res.json({ object: 'list', data, has_more: found.length > limit, next_after: data.at(-1)?.sequence ?? query.after ?? 0 })
  })

  serve(router, operations.exportEntries, async ({ query: { form, ...query }, terms }, req, res) => {
    await sendCsv(req, res, {
      name: 'entries',
      columns: form === 'brazilian' ? brazilianColumns : internationalColumns,
      separator: form === 'brazilian' ? ';' : ',',
      page: async ({ starting_after }, limit) => {
        const after = starting_after === undefined ? {} : { after: Number(starting_after) }
        const rows = (await store.ledger.list(terms.merchant_id, { ...query, ...after }, limit)).map(entryBody)
        return { rows, next: rows.length < limit ? undefined : rows.at(-1)?.sequence.toString() }
      },
    })
  })
}
