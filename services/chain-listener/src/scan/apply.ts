import type { Logger } from '@ponte/service-kit'
import type { BlockedDeposit } from '../events'
import type { Block, Position } from '../logs/block'
import { type Change, confirm, include, merge, orphan, type TimedPayment } from '../payment'
import type { Store } from '../store'
import { type Cursor, toDate } from '../store/position'
import type { BlockBatch } from './fetch'
import { confirmedLine } from './plan'
import type { Head, ScanSession, ScanWriter, Write } from './session'

export interface StepsOptions {
  writer: ScanWriter
  store: Store
  confirmations: number
  /** False when several nodes must agree before anything near the head is confirmed. */
  confirmsAlone: boolean
  /** Most blocks put to the vote at once near the head. */
  votedAtOnce(): number
  logger: Logger
  reorganised(depth: number): void
}

const nothing: Change = { payments: [], facts: [] }

const confirmedAt = ({ cursor, remembered }: ScanSession, line: number, blocks: readonly Block[]): Cursor['confirmed'] => {
  const block = line > cursor.confirmed.number ? [...blocks, ...remembered].find(({ number }) => number === line) : undefined
  return block ? { number: line, time: toDate(block.time) } : cursor.confirmed
}

/** The steps that move a cursor. Each decides, then commits once. */
export function createSteps({ writer, store, confirmations, confirmsAlone, votedAtOnce, logger, reorganised }: StepsOptions) {
  /** The line up to which blocks count as confirmed after scanning up to `scanned`. A finalized range is confirmed as a whole. */
  const lineAfter = (session: ScanSession, scanned: number, finalized: boolean) => {
    const confirmed = session.cursor.confirmed.number
    return finalized ? Math.max(confirmed, scanned) : confirmedLine({ scanned, confirmed, confirmations })
  }
  return {
    /** Applies what was read: position, blocks, payments, and what is confirmed by it. */
    async applyBlocks(
      session: ScanSession,
      batch: Pick<BlockBatch, 'blocks' | 'payments' | 'finalized' | 'head' | 'headTime'>,
    ): Promise<void> {
      const last = batch.blocks.at(-1)
      if (!last) throw new Error('an empty batch was read')
      const { confirmed } = session.cursor
      const line = batch.finalized || confirmsAlone ? lineAfter(session, last.number, batch.finalized) : confirmed.number
      const [known, waiting] = await Promise.all([
        store.payments.ofTransactions(batch.payments.map(({ txHash }) => txHash)),
        line > confirmed.number ? store.payments.toConfirm(line) : [],
      ])
      const included = include(batch.payments, known, number => number <= line)
      const cursor = {
        ...session.cursor,
        scanned: { number: last.number, hash: last.hash, time: toDate(last.time) },
        confirmed: confirmedAt(session, line, batch.blocks),
      }
      const { blocks, head: number, headTime: time } = batch
      await writer.commit(session, merge(confirm(waiting), included), { cursor, head: { number, time }, blocks })
    },

    /** Applies what added routers and deposit addresses have, or what is read once more, in blocks that the scan has passed. The cursor stays where it is. */
    async applyBackfill(
      session: ScanSession,
      payments: readonly TimedPayment[],
      progress: Pick<Write, 'routersReadTo' | 'deposits' | 'rescan'>,
    ): Promise<void> {
      const { cursor } = session
      const known = await store.payments.ofTransactions(payments.map(({ txHash }) => txHash))
      const change = include(payments, known, number => number <= cursor.confirmed.number)
      await writer.commit(session, change, { cursor, head: { number: cursor.scanned.number, time: 0 }, blocks: [], ...progress })
    },

    /** Publishes which deposits cannot be swept, or can be again. */
    async publishBlocked(session: ScanSession, blocked: readonly BlockedDeposit[]): Promise<void> {
      const { cursor } = session
      await writer.commit(session, nothing, { cursor, head: { number: cursor.scanned.number, time: 0 }, blocks: [], blocked })
    },

    /** What could be confirmed now, as far as depth goes, where enough nodes have reached a block; undefined when nothing can. */
    confirmable(session: ScanSession, reached = Number.POSITIVE_INFINITY): { from: number; to: Block } | undefined {
      const { scanned, confirmed } = session.cursor
      const from = confirmed.number + 1
      const line = Math.min(lineAfter(session, Math.min(scanned.number, reached), false), from + votedAtOnce() - 1)
      const to = session.remembered.find(({ number }) => number === line)
      return to && line >= from ? { from, to } : undefined
    },

    /** The head with which the next block could be confirmed. */
    neededHead: ({ cursor }: ScanSession): number => cursor.confirmed.number + confirmations,

    /** Confirms up to a block, after the nodes agreed on it. */
    async confirmUpTo(session: ScanSession, block: Block, head: Head): Promise<void> {
      const confirmed = { number: block.number, time: toDate(block.time) }
      await writer.commit(session, confirm(await store.payments.toConfirm(block.number)), {
        cursor: { ...session.cursor, confirmed },
        head,
        blocks: [],
      })
    },

    /** Everything above the ancestor is not part of the chain any more. */
    async rollbackTo(session: ScanSession, ancestor: Position & { time: number | null }, head: Head, why: string): Promise<void> {
      const { scanned, confirmed } = session.cursor
      const deep = ancestor.number < confirmed.number
      const change = orphan(await store.payments.above(ancestor.number))
      const { number, hash } = ancestor
      const time = ancestor.time === null ? null : toDate(ancestor.time)
      const depth = scanned.number - number
      const report = { why, depth, ancestor: number, orphaned: change.payments.length, undoes_confirmed: deep }
      logger[deep ? 'error' : 'warn']('the scan goes back', report)
      const cursor = { ...session.cursor, scanned: { number, hash, time }, confirmed: deep ? { number, time } : confirmed }
      await writer.commit(session, change, { cursor, head, blocks: [], forgetAbove: ancestor.number })
      reorganised(depth)
    },

    /** Publishes a `chain.advanced` that was held back. */
    announce: (session: ScanSession, head: Head) => writer.commit(session, nothing, { cursor: session.cursor, head, blocks: [] }),
  }
}
export type Steps = ReturnType<typeof createSteps>
