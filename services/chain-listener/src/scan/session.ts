import type { Block } from '../logs/block'
import { byPlace, type Change, type Payment, toEvents } from '../payment'
import type { Store } from '../store'
import type { Step } from '../store/commit'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import type { Cursor } from '../store/position'
import type { Late } from '../store/routers'

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
  /** Orders whose deposit addresses are level with the cursor by this. */
  level?: readonly string[]
}

export interface BookOptions {
  store: Store
  leader: Leader
  chainId: number
  token: string
  checksum(address: string): string
  window: number
  advanceEveryMs: number
  /** Whether there are deposit addresses, whose sweeps stand for transfers. */
  hasDeposits: boolean
  committed(change: Change, step: Step, head: Head): void
}

export type Book = ReturnType<typeof createBook>

const PRUNE_EVERY = 64

/** Writes steps, and with them `chain.advanced` when it is due: what memory holds afterwards is what the database holds. */
export function createBook(options: BookOptions) {
  const { store, leader, chainId } = options
  let announcedAt = Number.NEGATIVE_INFINITY
  let prunedAt = -1

  const heldBack = ({ confirmed, announced }: Cursor) => confirmed.number > announced && confirmed.time !== null
  const dueMs = () => Math.max(0, announcedAt + options.advanceEveryMs - performance.now())
  const advanced = ({ confirmed, sequence }: Cursor, head: number) => ({
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
  /** What came to the addresses out of which these payments were made, as it stands after this change. */
  const transfersBehind = async ({ facts, payments }: Change): Promise<Payment[]> => {
    const sweeps = facts.filter(({ payment }) => payment.deposit === null)
    if (!options.hasDeposits || sweeps.length === 0) return []
    const kept = await store.toDeposits([...new Set(sweeps.map(({ payment }) => payment.payer))])
    const changed = payments.filter(({ deposit }) => deposit !== null)
    const isChanged = (one: Payment) => changed.some(({ txHash, ordinal }) => txHash === one.txHash && ordinal === one.ordinal)
    return [...kept.filter(one => !isChanged(one)), ...changed].sort(byPlace)
  }
  return {
    async commit(lead: Lead, change: Change, write: Write): Promise<void> {
      const { sequence } = lead.cursor
      const events = toEvents(change.facts, { ...options, sequence, transfers: await transfersBehind(change) })
      const cursor = { ...write.cursor, sequence: sequence + events.length }
      const announces = heldBack(cursor) && dueMs() === 0
      if (announces) {
        events.push(advanced(cursor, write.head.number))
        cursor.announced = cursor.confirmed.number
      }
      if (leader.epoch() !== lead.epoch) throw new LeaseLostError('this replica does not lead any more')
      const { forgetAbove, lateScanned, level, head, blocks } = write
      const forgets = forgetAbove === undefined ? {} : { forgetAbove }
      const late = lead.late && lateScanned !== undefined ? { late: { routers: lead.late.routers, scanned: lateScanned } } : {}
      const step: Step = {
        cursor,
        head: head.number,
        blocks,
        payments: change.payments,
        events,
        ...forgets,
        ...late,
        ...(level && { level }),
      }
      await store.commit(lead.epoch, step)
      lead.cursor = cursor
      if (lead.late && lateScanned !== undefined) lead.late = lateScanned === null ? undefined : { ...lead.late, scanned: lateScanned }
      const kept = lead.remembered.filter(({ number }) => number <= (forgetAbove ?? number) && number >= lowest(cursor))
      lead.remembered = [...write.blocks.toReversed(), ...kept]
      if (announces) announcedAt = performance.now()
      options.committed(change, step, write.head)
      await prune(cursor)
    },
    /** Milliseconds until a `chain.advanced` that was held back is due; undefined when none is. */
    announcementDueMs: (lead: Lead): number | undefined => (heldBack(lead.cursor) ? dueMs() : undefined),
  }
}
