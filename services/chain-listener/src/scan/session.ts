import { type Advance, type Naming, type Publication, toEvents } from '../events'
import type { Block } from '../logs/block'
import type { Payment } from '../payment'
import type { Store } from '../store'
import type { Step } from '../store/commit'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import type { Cursor } from '../store/position'

export interface Head {
  number: number
  time: number
}

/** Held by a leader in memory; anything uncertain is thrown away and read from the database again. */
export interface ScanSession {
  epoch: bigint
  lease: string
  /** The leases of this generation that have ended, with their last versions. */
  earlier: { lease: string; version: number }[]
  cursor: Cursor
  remembered: readonly Block[]
  /** Changes when blocks were taken back: what was asked for before belongs to another chain. */
  reorganisations: number
}

/** One step's rows, and the events published with them. */
export interface Write extends Pick<Step, 'forgetAbove' | 'covered' | 'answers' | 'republishFrom'>, Partial<Omit<Publication, 'advanced'>> {
  cursor: Cursor
  head: Head
  blocks?: readonly Block[]
  payments?: readonly Payment[]
  /** Confirmed blocks that are published once more, with their payments. */
  again?: Advance
}

export interface ScanWriterOptions {
  store: Store
  leader: Leader
  naming: Naming
  window: number
  advanceEveryMs: number
  committed(step: Step, head: Head): void
}

export type ScanWriter = ReturnType<typeof createScanWriter>

const PRUNE_EVERY = 64

/**
 * Writes steps, and publishes with them what was confirmed: at once with anything else that is published, and now and then where there is nothing but
 * empty blocks. What memory holds afterwards is what the database holds.
 */
export function createScanWriter(options: ScanWriterOptions) {
  const { store, leader, naming } = options
  let announcedAt = Number.NEGATIVE_INFINITY
  let prunedAt = -1

  const heldBack = ({ confirmed, announced }: Cursor) => confirmed.number > announced && confirmed.time !== null
  const dueMs = () => Math.max(0, announcedAt + options.advanceEveryMs - performance.now())
  const advanceTo = ({ confirmed, announced }: Cursor): Advance | null =>
    confirmed.number > announced && confirmed.time !== null
      ? { from: announced + 1, to: confirmed.number, time: confirmed.time.getTime() / 1_000 }
      : null
  /** Blocks below this are out of reach of any reorganisation we follow, and of any vote. */
  const lowest = ({ scanned, confirmed }: Cursor) => Math.min(scanned.number - options.window, confirmed.number)
  const prune = async (cursor: Cursor) => {
    if (Math.abs(cursor.scanned.number - prunedAt) < PRUNE_EVERY) return
    prunedAt = cursor.scanned.number
    await store.position.forget(lowest(cursor))
  }
  return {
    async commit(session: ScanSession, write: Write): Promise<void> {
      const { forgetAbove, head, blocks = [], payments = [], stated = [], gone = [], watched = [], again, ...rest } = write
      const version = session.cursor.version + 1
      // Its first event makes a generation known.
      const speaks = stated.length > 0 || gone.length > 0 || watched.length > 0 || version === 1
      const announces = !again && heldBack(write.cursor) && (speaks || dueMs() === 0)
      // A reorganisation below the announced blocks has them confirmed, and announced, anew.
      const announced = announces ? write.cursor.confirmed.number : Math.min(write.cursor.announced, write.cursor.confirmed.number)
      const cursor = { ...write.cursor, version, announced }
      const { generation, since } = cursor
      const statement = {
        generation,
        version,
        since,
        lease: session.lease,
        earlier: session.earlier,
        head: Math.max(0, cursor.scanned.number),
      }
      const advanced = again ?? (announces ? advanceTo(write.cursor) : null)
      const publication = { advanced, stated, gone, watched }
      const events = speaks || announces || again ? toEvents(publication, naming, statement) : []
      if (version === 1 && events.length === 0)
        events.push({ chain_id: naming.chainId, ...statement, advanced: null, gone: [], payments: [], sweeps: [], watched: [] })
      if (leader.epoch() !== session.epoch) throw new LeaseLostError('this replica does not lead any more')
      const { covered, answers, republishFrom } = rest
      const step: Step = { cursor, head: head.number, blocks, payments, events, forgetAbove, covered, answers, republishFrom }
      await store.commit(session.epoch, step)
      session.cursor = cursor
      if (forgetAbove !== undefined) session.reorganisations++
      const kept = session.remembered.filter(({ number }) => number <= (forgetAbove ?? number) && number >= lowest(cursor))
      session.remembered = [...blocks.toReversed(), ...kept]
      if (announces) announcedAt = performance.now()
      options.committed(step, head)
      await prune(cursor)
    },
    /** Milliseconds until confirmed blocks that were held back are published; undefined when none are. */
    announcementDueMs: (session: ScanSession): number | undefined => (heldBack(session.cursor) ? dueMs() : undefined),
  }
}
