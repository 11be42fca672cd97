import type { Logger } from '@ponte/service-kit'
import type { Block, Position } from '../logs/block'
import { type Change, confirm, include, merge, orphan, type TimedPayment } from '../payment'
import type { Store } from '../store'
import { toDate } from '../store/cursor'
import type { Cursor } from '../store/position'
import type { Stretch } from './fetch'
import { confirmedLine } from './plan'
import type { Book, Head, Lead, Write } from './session'

export interface StepsOptions {
  book: Book
  store: Store
  confirmations: number
  /** False when several nodes must agree before anything near the head is confirmed. */
  confirmsAlone: boolean
  logger: Logger
  reorganised(depth: number): void
}

/** Most blocks put to the vote at once near the head. */
const CONFIRMED_AT_ONCE = 100

const nothing: Change = { payments: [], facts: [] }

const confirmedAt = ({ cursor, remembered }: Lead, line: number, blocks: readonly Block[]): Cursor['confirmed'] => {
  const block = line > cursor.confirmed.number ? [...blocks, ...remembered].find(({ number }) => number === line) : undefined
  return block ? { number: line, time: toDate(block.time) } : cursor.confirmed
}

/** The steps that move a cursor. Each decides, then commits once. */
export function createSteps({ book, store, confirmations, confirmsAlone, logger, reorganised }: StepsOptions) {
  /** The line up to which blocks count as confirmed after scanning up to `scanned`. A finished span is confirmed as a whole. */
  const lineAfter = (lead: Lead, scanned: number, finished: boolean) => {
    const confirmed = lead.cursor.confirmed.number
    return finished ? Math.max(confirmed, scanned) : confirmedLine({ scanned, confirmed, confirmations })
  }
  return {
    /** Takes in what was read: position, blocks, payments, and what is confirmed by it. */
    async takeIn(lead: Lead, stretch: Stretch): Promise<void> {
      const last = stretch.blocks.at(-1)
      if (!last) throw new Error('an empty stretch was read')
      const { confirmed } = lead.cursor
      const line = stretch.finished || confirmsAlone ? lineAfter(lead, last.number, stretch.finished) : confirmed.number
      const [known, waiting] = await Promise.all([
        store.ofTransactions(stretch.payments.map(({ txHash }) => txHash)),
        line > confirmed.number ? store.toConfirm(line) : [],
      ])
      const included = include(stretch.payments, known, number => number <= line)
      const cursor = {
        ...lead.cursor,
        scanned: { number: last.number, hash: last.hash, time: toDate(last.time) },
        confirmed: confirmedAt(lead, line, stretch.blocks),
      }
      const { blocks, head: number, headTime: time } = stretch
      await book.commit(lead, merge(confirm(waiting), included), { cursor, head: { number, time }, blocks })
    },

    /** Takes in what late routers and late deposit addresses have in blocks that the scan has passed. The cursor stays where it is. */
    async takeInPassed(lead: Lead, payments: readonly TimedPayment[], done: Pick<Write, 'lateScanned' | 'level'>): Promise<void> {
      const { cursor } = lead
      const known = await store.ofTransactions(payments.map(({ txHash }) => txHash))
      const change = include(payments, known, number => number <= cursor.confirmed.number)
      await book.commit(lead, change, { cursor, head: { number: cursor.scanned.number, time: 0 }, blocks: [], ...done })
    },

    /** What could be confirmed now, as far as depth goes; undefined when nothing can. */
    confirmable(lead: Lead): { from: number; to: Block } | undefined {
      const from = lead.cursor.confirmed.number + 1
      const line = Math.min(lineAfter(lead, lead.cursor.scanned.number, false), from + CONFIRMED_AT_ONCE - 1)
      const to = lead.remembered.find(({ number }) => number === line)
      return to && line >= from ? { from, to } : undefined
    },

    /** Confirms up to a block, after the nodes agreed on it. */
    async confirmUpTo(lead: Lead, block: Block, head: Head): Promise<void> {
      const confirmed = { number: block.number, time: toDate(block.time) }
      await book.commit(lead, confirm(await store.toConfirm(block.number)), { cursor: { ...lead.cursor, confirmed }, head, blocks: [] })
    },

    /** Everything above the ancestor is not part of the chain any more. */
    async goBack(lead: Lead, ancestor: Position & { time: number | null }, head: Head, why: string): Promise<void> {
      const { scanned, confirmed } = lead.cursor
      const deep = ancestor.number < confirmed.number
      const change = orphan(await store.above(ancestor.number))
      const { number, hash } = ancestor
      const time = ancestor.time === null ? null : toDate(ancestor.time)
      const depth = scanned.number - number
      const report = { why, depth, ancestor: number, orphaned: change.payments.length, undoes_confirmed: deep }
      logger[deep ? 'error' : 'warn']('the scan goes back', report)
      const cursor = { ...lead.cursor, scanned: { number, hash, time }, confirmed: deep ? { number, time } : confirmed }
      await book.commit(lead, change, { cursor, head, blocks: [], forgetAbove: ancestor.number })
      reorganised(depth)
    },

    /** Publishes a `chain.advanced` that was held back. */
    announce: (lead: Lead, head: Head) => book.commit(lead, nothing, { cursor: lead.cursor, head, blocks: [] }),
  }
}
export type Steps = ReturnType<typeof createSteps>
