import type { Block } from './block'
import type { Cursor } from './cursor'
import type { DepositFacts } from './deposit-facts'
import type { Leader } from './leader'
import { type Change, toEvents } from './payment'
import type { Store } from './store'
import { LeaseLostError, type Step } from './store/commit'
import type { Late } from './store/routers'

/** The head as it was last seen. */
export interface Head {
  number: number
  time: number
}

/** What a leader holds in memory; anything uncertain is thrown away and read from the database again. */
export interface Lead {
  epoch: bigint
  cursor: Cursor
  /** The remembered blocks up to our position, highest first. */
  remembered: readonly Block[]
  /** Routers that are read up to the cursor before the scan goes on. */
  late: Late | undefined
}

/** What goes into the database in one step, beside the payments. */
export interface Write {
  cursor: Cursor
  head: Head
  blocks: readonly Block[]
  forgetAbove?: number
  /** How far the late routers have come; null when they are level with the cursor. */
  lateScanned?: number | null
}

export interface BookOptions {
  store: Store
  leader: Leader
  chainId: number
  token: string
  checksum(address: string): string
  window: number
  advanceEveryMs: number
  /** Transfers to deposit addresses, when those are on. */
  deposits?: DepositFacts | undefined
  committed(change: Change, step: Step, head: Head): void
}

export type Book = ReturnType<typeof createBook>

const PRUNE_EVERY = 64

/** Writes steps, and with them `chain.advanced` when it is due: what memory holds afterwards is what the database holds. */
export function createBook(options: BookOptions) {
  const { store, leader, chainId } = options
  let announcedAt = Number.NEGATIVE_INFINITY
  let prunedAt = -1

  /** The confirmed block that may be announced: whatever was sent to a deposit address before it has been told. */
  const tellable = ({ confirmed }: Cursor, blocks: readonly Block[]): Cursor['confirmed'] => {
    const line = options.deposits?.line() ?? confirmed.number
    if (line >= confirmed.number) return confirmed
    const block = blocks.find(({ number }) => number === line)
    return { number: line, time: block ? new Date(block.time * 1_000) : null }
  }
  const heldBack = (cursor: Cursor, blocks: readonly Block[]) => {
    const { number, time } = tellable(cursor, blocks)
    return number > cursor.announced && time !== null
  }
  const dueMs = () => Math.max(0, announcedAt + options.advanceEveryMs - performance.now())
  const advanced = (confirmed: Cursor['confirmed'], sequence: number, head: number) => ({
    type: 'chain.advanced' as const,
    data: {
      chain_id: chainId,
      confirmed_block: confirmed.number,
      confirmed_time: (confirmed.time ?? new Date(0)).toISOString(),
      head_block: Math.max(head, confirmed.number),
      sequence,
    },
  })
  /** Blocks below this are out of reach of any reorganisation we follow, and of any vote. */
  const lowest = ({ scanned, confirmed }: Cursor) => Math.min(scanned.number - options.window, confirmed.number)
  const prune = async (cursor: Cursor) => {
    if (Math.abs(cursor.scanned.number - prunedAt) < PRUNE_EVERY) return
    prunedAt = cursor.scanned.number
    await store.forget(lowest(cursor))
  }
  return {
    async commit(lead: Lead, change: Change, write: Write): Promise<void> {
      const { sequence } = lead.cursor
      const payments = toEvents(change.facts, { ...options, sequence })
      const deposits = await options.deposits?.addTo(payments, sequence)
      const events = deposits?.events ?? payments
      const cursor = { ...write.cursor, sequence: sequence + events.length }
      const known = [...write.blocks, ...lead.remembered]
      const announces = heldBack(cursor, known) && dueMs() === 0
      if (announces) {
        const confirmed = tellable(cursor, known)
        events.push(advanced(confirmed, cursor.sequence, write.head.number))
        cursor.announced = confirmed.number
      }
      if (leader.epoch() !== lead.epoch) throw new LeaseLostError('this replica does not lead any more')
      const { forgetAbove, lateScanned, head, blocks } = write
      const forgets = forgetAbove === undefined ? {} : { forgetAbove }
      const late = lead.late && lateScanned !== undefined ? { late: { routers: lead.late.routers, scanned: lateScanned } } : {}
      const step: Step = { cursor, head: head.number, blocks, payments: change.payments, events, ...forgets, ...late }
      await store.commit(lead.epoch, step)
      await deposits?.committed()
      lead.cursor = cursor
      if (lead.late && lateScanned !== undefined) lead.late = lateScanned === null ? undefined : { ...lead.late, scanned: lateScanned }
      const kept = lead.remembered.filter(({ number }) => number <= (forgetAbove ?? number) && number >= lowest(cursor))
      lead.remembered = [...write.blocks.toReversed(), ...kept]
      if (announces) announcedAt = performance.now()
      options.committed(change, step, write.head)
      await prune(cursor)
    },
    /** Milliseconds until a `chain.advanced` that was held back is due; undefined when none is. */
    announcementDueMs: (lead: Lead): number | undefined => {
      if (options.deposits?.hasNews()) return 0
      return heldBack(lead.cursor, lead.remembered) ? dueMs() : undefined
    },
  }
}
