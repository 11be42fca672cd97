import { type ListEntries, operations } from '@ponte/contracts'
import { cursorAt, cursorText, type NumberedHistory, numbersReset, resetOf, sendCsv, serve } from '@ponte/service-kit'
import type { Router } from 'express'
import { entryBody } from '../ledger/entry'
import type { Store } from '../store'
import { csvForm } from './ledger-file'

const PAGE = 20

export function entriesRoutes(router: Router, { store }: { store: Store }): void {
  serve(router, operations.listEntries, async ({ query, terms }, _req, res) => {
    const limit = query.limit ?? PAGE
    const { rows, history } = await store.ledger.list(terms.merchant_id, { ...query, after: query.after?.sequence }, limit + 1)
    requireHistory(history, query)
    const data = rows.slice(0, limit).map(entryBody(history))
    const next = data.at(-1)?.sequence ?? query.after?.sequence ?? 0
    res.json({ object: 'list', data, has_more: rows.length > limit, next_cursor: cursorText(cursorAt(history, next)), next_after: next })
  })

  serve(router, operations.exportEntries, async ({ query: { form, ...query }, terms }, req, res) => {
    await sendCsv(req, res, {
      name: 'entries',
      ...csvForm(form),
      page: async ({ starting_after }, limit) => {
        const after = starting_after === undefined ? {} : { after: Number(starting_after) }
        const found = await store.ledger.list(terms.merchant_id, { ...query, ...after }, limit)
        const rows = found.rows.map(entryBody(found.history))
        return { rows, next: rows.length < limit ? undefined : rows.at(-1)?.sequence.toString() }
      },
    })
  })
}

/** Throws `events_reset` where the reader's place is of another history. In a range, which is in order of time, what is new may stand anywhere: it begins again. */
function requireHistory(history: NumberedHistory, { after, at_gte, at_lt }: ListEntries): void {
  const reset = after ? resetOf(history, after) : null
  if (reset === null) return
  const sequence = reset === 'everything' || at_gte !== undefined || at_lt !== undefined ? 0 : reset
  throw numbersReset(history, sequence, 'entries', 'Delete what you have behind it.')
}
