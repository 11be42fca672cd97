import { type BlockedDeposit, type Naming, toEvents } from '../events'
import type { Block } from '../logs/block'
import { assignRevisions, type Change } from '../payment'
import type { Store } from '../store'
import type { DepositProgress, Step } from '../store/commit'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import type { Cursor } from '../store/position'
import type { Rescan } from '../store/rescans'
import type { AddedRouters } from '../store/routers'

/** The head as it was last seen. */
export interface Head {
  number: number
  time: number
}

/** What a leader holds in memory; anything uncertain is thrown away and read from the database again. */
export interface ScanSession {
  epoch: bigint
  cursor: Cursor
  /** The remembered blocks up to our position, highest first. */
  remembered: readonly Block[]
  /** Routers that are read up to the cursor before the scan goes on. */
  addedRouters: AddedRouters | undefined
}

/** What goes into the database in one step, beside the payments. */
export interface Write {
  cursor: Cursor
  head: Head
  blocks: readonly Block[]
  forgetAbove?: number
  /** How far the added routers have been read; null when they are level with the cursor. */
  routersReadTo?: number | null
  deposits?: DepositProgress
  rescan?: Rescan
  blocked?: readonly BlockedDeposit[]
}

export interface ScanWriterOptions {
  store: Store
  leader: Leader
  naming: Naming
  window: number
  advanceEveryMs: number
  /** While the books and the chain differ no time is announced: what is missing may have paid an order that would expire. */
  differs(): boolean
  committed(change: Change, step: Step, head: Head): void
}

export type ScanWriter = ReturnType<typeof createScanWriter>

const PRUNE_EVERY = 64

/** Writes steps, and with them `chain.advanced` when it is due: what memory holds afterwards is what the database holds. */
export function createScanWriter(options: ScanWriterOptions) {
  const { store, leader, naming } = options
  let announcedAt = Number.NEGATIVE_INFINITY
  let prunedAt = -1

  const heldBack = ({ confirmed, announced }: Cursor) => confirmed.number > announced && confirmed.time !== null && !options.differs()
  const dueMs = () => Math.max(0, announcedAt + options.advanceEveryMs - performance.now())
  const advanced = ({ scanned, confirmed, sequence }: Cursor) => ({
    type: 'chain.advanced' as const,
    data: {
      chain_id: naming.chainId,
      confirmed_block: confirmed.number,
      confirmed_time: (confirmed.time ?? new Date(0)).toISOString(),
      // What was read: one node alone can show any head.
      head_block: scanned.number,
      sequence,
    },
  })
  /** Blocks below this are out of reach of any reorganisation we follow, and of any vote. */
  const lowest = ({ scanned, confirmed }: Cursor) => Math.min(scanned.number - options.window, confirmed.number)
  const prune = async (cursor: Cursor) => {
    if (Math.abs(cursor.scanned.number - prunedAt) < PRUNE_EVERY) return
    prunedAt = cursor.scanned.number
    await store.position.forget(lowest(cursor))
  }
  return {
    async commit(session: ScanSession, change: Change, write: Write): Promise<void> {
      const { forgetAbove, routersReadTo, deposits, rescan, blocked, head, blocks } = write
      const synced = deposits?.synced ? deposits.orderIds : undefined
      assignRevisions(change, session.cursor.sequence)
      const events = toEvents({ facts: change.facts, synced, blocked }, naming, session.cursor.sequence)
      const cursor = { ...write.cursor, sequence: session.cursor.sequence + events.length }
      const announces = heldBack(cursor) && dueMs() === 0
      if (announces) {
        events.push(advanced(cursor))
        cursor.announced = cursor.confirmed.number
      }
      if (leader.epoch() !== session.epoch) throw new LeaseLostError('this replica does not lead any more')
      const added = session.addedRouters
      const routers = added && routersReadTo !== undefined ? { addresses: added.addresses, readTo: routersReadTo } : undefined
      const reading = { forgetAbove, routers, deposits, rescan, blocked }
      const step: Step = { cursor, head: head.number, blocks, payments: change.payments, events, ...reading }
      await store.commit(session.epoch, step)
      session.cursor = cursor
      if (added && routers) session.addedRouters = routers.readTo === null ? undefined : { ...added, readTo: routers.readTo }
      const kept = session.remembered.filter(({ number }) => number <= (forgetAbove ?? number) && number >= lowest(cursor))
      session.remembered = [...blocks.toReversed(), ...kept]
      if (announces) announcedAt = performance.now()
      options.committed(change, step, head)
      await prune(cursor)
    },
    /** Milliseconds until a `chain.advanced` that was held back is due; undefined when none is. */
    announcementDueMs: (session: ScanSession): number | undefined => (heldBack(session.cursor) ? dueMs() : undefined),
  }
}
