import type { Logger } from '@ponte/service-kit'
import type { Block, Position } from '../logs/block'
import { become, include, includeAgain, type Payment, type TimedPayment, unseen } from '../payment'
import type { Store } from '../store'
import type { Answer } from '../store/answers'
import type { Covered } from '../store/commit'
import { type Cursor, toDate } from '../store/position'
import type { BlockBatch } from './fetch'
import { confirmedLine } from './plan'
import type { Head, ScanSession, ScanWriter } from './session'

export interface StepsOptions {
  writer: ScanWriter
  store: Store
  confirmations: number
  /** False when several nodes must agree before anything near the head is confirmed. */
  confirmsAlone: boolean
  logger: Logger
  reorganised(depth: number): void
}

/** Most blocks that are confirmed in one step near the head. */
const CONFIRMED_AT_ONCE = 500
const ANSWERED_AT_ONCE = 500
const REPUBLISHED_AT_ONCE = 3_000

const confirmedAt = ({ cursor, remembered }: ScanSession, line: number, blocks: readonly Block[]): Cursor['confirmed'] => {
  const block = line > cursor.confirmed.number ? [...blocks, ...remembered].find(({ number }) => number === line) : undefined
  return block ? { number: line, time: toDate(block.time) } : cursor.confirmed
}

/** The steps that move a cursor, or publish what it has passed. Each decides, then commits once. */
export function createSteps({ writer, store, confirmations, confirmsAlone, logger, reorganised }: StepsOptions) {
  /** The line up to which blocks count as confirmed after scanning up to `scanned`. A finalized range is confirmed as a whole. */
  const lineAfter = (session: ScanSession, scanned: number, finalized: boolean) => {
    const confirmed = session.cursor.confirmed.number
    return finalized ? Math.max(confirmed, scanned) : confirmedLine({ scanned, confirmed, confirmations })
  }
  /** As many of these as have no more payments than are stated at once, or the first of them: strangers may have paid any number of times. */
  const borneOf = async (answers: readonly Answer[]): Promise<{ answers: readonly Answer[]; payments: Payment[] }> => {
    const memos = answers.flatMap(({ memo, doubted }) => (doubted ? [] : [memo]))
    const payments = await store.payments.withMemos(memos, answers.length === 1 ? null : REPUBLISHED_AT_ONCE + 1)
    const isBorne = answers.length === 1 || payments.length <= REPUBLISHED_AT_ONCE
    return isBorne ? { answers, payments } : borneOf(answers.slice(0, Math.ceil(answers.length / 2)))
  }
  const standing = ({ cursor }: ScanSession) => ({ cursor, head: { number: cursor.scanned.number, time: 0 } })
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
      const waiting = line > confirmed.number ? await store.payments.toConfirm(confirmed.number, line) : []
      const payments = [...become(waiting, 'confirmed'), ...include(batch.payments, line)]
      const cursor = {
        ...session.cursor,
        scanned: { number: last.number, hash: last.hash, time: toDate(last.time) },
        confirmed: confirmedAt(session, line, batch.blocks),
      }
      const head = { number: batch.head, time: batch.headTime }
      await writer.commit(session, { cursor, head, blocks: batch.blocks, payments, stated: payments })
    },

    /** Applies what routers and deposit addresses have in blocks that the scan has passed. The cursor stays where it is. */
    async applyGap(session: ScanSession, seen: readonly TimedPayment[], covered: Covered): Promise<void> {
      const { from, to } = covered
      const known = await (seen.length === 0 ? store.payments.detected(from, to) : store.payments.live(from, to))
      const line = session.cursor.confirmed.number
      const payments = [...includeAgain(seen, known, line), ...become(unseen(known, seen, covered.subjects, line), 'orphaned')]
      await writer.commit(session, { ...standing(session), payments, stated: payments, covered })
    },

    /** Answers the questions of orders: which of its orders are watched, with all their payments. True if there were any. */
    async answer(session: ScanSession): Promise<boolean> {
      const due = session.cursor.scanned.number < 0 ? [] : await store.answers.due(ANSWERED_AT_ONCE)
      if (due.length === 0) return false
      const { answers, payments } = await borneOf(due)
      const sure = answers.filter(({ doubted }) => !doubted)
      const byMemo = new Map<string, Payment[]>(sure.map(({ memo }) => [memo, []]))
      for (const payment of payments) byMemo.get(payment.memo)?.push(payment)
      const watched = answers.map(({ orderId, memo, doubted }) =>
        doubted
          ? { orderId, through: -1, payments: [] }
          : { orderId, through: session.cursor.scanned.number, payments: byMemo.get(memo) ?? [] },
      )
      await writer.commit(session, { ...standing(session), watched, answers })
      return true
    },

    /** Publishes confirmed blocks once more, where orders has lost them; answers whether there is more. */
    async republish(session: ScanSession, missing: number): Promise<boolean> {
      const { since, announced, confirmed } = session.cursor
      const from = Math.max(missing, since)
      const payments = from > announced ? [] : await store.payments.confirmedFrom(from, announced, REPUBLISHED_AT_ONCE)
      const cut = payments.length >= REPUBLISHED_AT_ONCE ? payments.at(-1) : undefined
      const to = cut?.blockNumber ?? announced
      // The time of a block without payments is not kept; that of the confirmed one is not earlier.
      const time =
        cut?.blockTime ?? (announced === confirmed.number && confirmed.time !== null ? confirmed.time.getTime() / 1_000 : undefined)
      if (from > announced || time === undefined) {
        if (from > announced) await writer.commit(session, { ...standing(session), republishFrom: null })
        return false
      }
      logger.warn('orders has not all that was confirmed; it is published again', { from, to })
      const republishFrom = to < announced ? to + 1 : null
      await writer.commit(session, { ...standing(session), stated: payments, again: { from, to, time }, republishFrom })
      return republishFrom !== null
    },

    /** As far as depth goes, where enough nodes have reached a block; undefined when nothing can be confirmed. */
    confirmable(session: ScanSession, reached = Number.POSITIVE_INFINITY): { from: number; to: Block } | undefined {
      const { scanned, confirmed } = session.cursor
      const from = confirmed.number + 1
      const line = Math.min(lineAfter(session, Math.min(scanned.number, reached), false), from + CONFIRMED_AT_ONCE - 1)
      const to = session.remembered.find(({ number }) => number === line)
      return to && line >= from ? { from, to } : undefined
    },

    neededHead: ({ cursor }: ScanSession): number => cursor.confirmed.number + confirmations,

    /** Confirms up to a block, after the nodes agreed on it. */
    async confirmUpTo(session: ScanSession, block: Block, head: Head): Promise<void> {
      const confirmed = { number: block.number, time: toDate(block.time) }
      const payments = become(await store.payments.toConfirm(session.cursor.confirmed.number, block.number), 'confirmed')
      await writer.commit(session, { cursor: { ...session.cursor, confirmed }, head, payments, stated: payments })
    },

    /** Everything above the ancestor is not part of the chain any more. */
    async rollbackTo(session: ScanSession, ancestor: Position & { time: number | null }, head: Head, why: string): Promise<void> {
      const { scanned, confirmed } = session.cursor
      const deep = ancestor.number < confirmed.number
      const payments = become(await store.payments.above(ancestor.number), 'orphaned')
      const above = session.remembered.filter(block => block.number > ancestor.number)
      const gone = [...new Set([...above.map(block => block.hash), ...payments.map(payment => payment.blockHash)])]
      const { number, hash } = ancestor
      const time = ancestor.time === null ? null : toDate(ancestor.time)
      const depth = scanned.number - number
      const report = { why, depth, ancestor: number, orphaned: payments.length, undoes_confirmed: deep }
      logger[deep ? 'error' : 'warn']('the scan goes back', report)
      const cursor = { ...session.cursor, scanned: { number, hash, time }, confirmed: deep ? { number, time } : confirmed }
      await writer.commit(session, { cursor, head, payments, gone, forgetAbove: ancestor.number })
      reorganised(depth)
    },

    /** Publishes what is due although no block brings it: confirmed blocks that were held back, or that a generation begins. */
    announce: (session: ScanSession, head: Head) => writer.commit(session, { cursor: session.cursor, head }),
  }
}
export type Steps = ReturnType<typeof createSteps>
