import type { Logger } from '@ponte/service-kit'
import type { Watch } from '../logs/filter'
import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { Leader } from '../store/leader'
import type { Cursor } from '../store/position'
import type { Steps } from './apply'
import type { LateDeposits } from './backfill-deposits'
import { readLate } from './backfill-routers'
import { createAgreement } from './consensus'
import { blockCall, chainCall, demandChain, type Stretch, toBlock } from './fetch'
import type { Reader, Reading } from './fetch-ahead'
import { type CatchUp, catchUp, progressOf } from './progress'
import type { Votes } from './quorum'
import { createFaults } from './recovery'
import type { Book, Lead } from './session'

export interface ScannerOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  watch: Watch
  book: Book
  steps: Steps
  votes: Votes
  reading: Reader
  /** Undefined when there are no deposit addresses. */
  lateDeposits: LateDeposits | undefined
  startBlock: number
  logger: Logger
  /** The chain is not the one we followed, and nothing may be read any more. */
  halted(error: Error): void
}

const REPORT_EVERY_MS = 5_000

/** How a long back-fill gets on, said in the log now and then. */
function createProgress(logger: Logger) {
  let progress: CatchUp | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  return {
    moved(from: number, to: number, head: number): void {
      const at = performance.now()
      progress = catchUp(progress, { from, to, head, at })
      if (!progress || at - reportedAt < REPORT_EVERY_MS) return
      reportedAt = at
      logger.info('catching up', { scanned: to, head, ...progressOf(progress) })
    },
    now: () => progress,
  }
}

/** The scan of one chain, turn by turn, in the replica that leads. */
export function createScanner(options: ScannerOptions) {
  const { store, leader, book, steps, reading, logger } = options
  let lead: Lead | undefined
  let halt: Error | undefined
  const progress = createProgress(logger)
  const faults = createFaults(options)
  const agreement = createAgreement(options)

  const load = async (epoch: bigint): Promise<Lead> => {
    reading.restart()
    const cursor = (await store.cursor()) ?? (await anchor(options, epoch))
    await store.follow(epoch, options.watch.routers, options.startBlock - 1)
    await options.lateDeposits?.load()
    return { epoch, cursor, remembered: await store.remembered(cursor.scanned.number), late: await store.late() }
  }
  const takeIn = async (at: Lead, stretch: Stretch): Promise<void> => {
    const from = at.cursor.scanned.number
    const head = { number: stretch.head, time: stretch.headTime }
    if (stretch.finished && !(await agreement.onStretch(at, stretch, head))) return
    await steps.takeIn(at, stretch)
    progress.moved(from, at.cursor.scanned.number, stretch.head)
    await agreement.confirm(at, head)
  }
  /** What is to be read up to the cursor before the scan goes on; answers whether there was any. */
  const catchUpLate = async (at: Lead): Promise<boolean> => {
    if (!at.late) return (await options.lateDeposits?.catchUp(at)) ?? false
    const { from, to } = await readLate(at, at.late, options)
    progress.moved(from - 1, to, at.cursor.scanned.number)
    return true
  }
  const act = async (at: Lead, read: Reading): Promise<boolean> => {
    if (read.kind === 'stretch') await takeIn(at, read.stretch)
    if (read.kind === 'forked') await agreement.follow(at, read)
    if (read.kind !== 'wait' || (await agreement.confirm(at, read.head))) return true
    if (book.announcementDueMs(at) === 0) await steps.announce(at, read.head)
    return false
  }
  return {
    /** One turn; answers whether there is more to do at once. */
    async step(): Promise<boolean> {
      const epoch = leader.epoch()
      if (epoch === undefined || halt) {
        lead = undefined
        return false
      }
      try {
        if (lead?.epoch !== epoch) lead = await load(epoch)
        const more = (!faults.mustLook() && (await catchUpLate(lead))) || (await act(lead, await reading.next(lead)))
        faults.none()
        return more
      } catch (error) {
        const next = faults.meet(error)
        if (next.reload) lead = undefined
        if (next.halt) {
          halt = next.halt
          options.halted(halt)
        }
        if (next.unknown) throw error
        return next.more
      }
    },
    /** What memory says while this replica leads. */
    view: () => ({ cursor: lead?.cursor, head: reading.head(), progress: progress.now(), halt }),
    announcementDueMs: () => (lead ? book.announcementDueMs(lead) : undefined),
    /** True while confirmations wait for other nodes' word. */
    awaitsVotes: () => lead !== undefined && steps.confirmable(lead) !== undefined,
    /** True while routers that were added are read up to the cursor. */
    hasLate: () => lead?.late !== undefined,
  }
}
export type Scanner = ReturnType<typeof createScanner>

/** Fixes the first position on an empty database: the block before START_BLOCK, whose hash the first block must name as its parent. */
async function anchor({ nodes, store, watch, startBlock }: ScannerOptions, epoch: bigint): Promise<Cursor> {
  const [before, genesis] = await nodes.use(async node => {
    const { results } = await node.ask([chainCall, blockCall(Math.max(0, startBlock - 1)), blockCall(0)])
    demandChain(watch, results[0])
    return [startBlock === 0 ? undefined : toBlock(results[1]), toBlock(results[2])]
  })
  if (startBlock > 0 && !before) throw new Error(`START_BLOCK is ${startBlock}, but the chain has no block before it yet.`)
  await store.anchor(epoch, before, startBlock, genesis?.hash ?? null)
  // Whatever is watched from the first block on is level with the cursor.
  await store.follow(epoch, watch.routers, null)
  const cursor = await store.cursor()
  if (!cursor) throw new Error('the first position was not written')
  return cursor
}
