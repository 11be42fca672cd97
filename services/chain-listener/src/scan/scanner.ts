import type { Logger } from '@ponte/service-kit'
import type { Watch } from '../logs/filter'
import { blockCall, chainCall, demandChain, strictly, toHeader } from '../proof/header'
import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { Leader } from '../store/leader'
import type { Cursor } from '../store/position'
import type { Steps } from './apply'
import type { Votes } from './checks/quorum'
import type { Reach } from './checks/reach'
import { createConsensus } from './consensus'
import type { FetchAhead, Reading } from './fetch-ahead'
import type { Gaps } from './gaps'
import { type CatchUp, catchUp, progressOf } from './progress'
import { createRecovery } from './recovery'
import type { ScanSession, ScanWriter } from './session'

export interface ScannerOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  watch: Watch
  writer: ScanWriter
  steps: Steps
  votes: Votes
  reach: Reach
  reading: FetchAhead
  gaps: Gaps
  startBlock: number
  /** Nothing near the head is put to a vote before it is confirmed. */
  confirmsAlone: boolean
  logger: Logger
  /** A session begins, or addresses were issued: whether there are any is read anew. */
  loaded(): Promise<void>
  /** The chain is not the one we followed, and nothing may be read any more. */
  halted(error: Error): void
}

const REPORT_EVERY_MS = 5_000

/** Logs a long catch-up now and then. */
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

/** More reorganisations than one session sees: gaps that were read under a session before this one do not belong to it. */
const LOADED = 1_000_000

/** The scan of one chain, turn by turn, in the replica that leads. */
export function createScanner(options: ScannerOptions) {
  const { store, leader, writer, steps, votes, reading, gaps, logger } = options
  let session: ScanSession | undefined
  let halt: Error | undefined
  /** When this replica, in its present lead, last saw what the chain has; at first, when it began to lead. */
  let looked: { epoch: bigint; at: number } | undefined
  const progress = createProgress(logger)
  const recovery = createRecovery(options)
  const consensus = createConsensus(options)

  let loads = 0
  const load = async (epoch: bigint): Promise<ScanSession> => {
    reading.restart()
    const cursor = (await store.position.find()) ?? (await anchor(options, epoch))
    await store.coverage.follow(epoch, options.watch.routers, options.startBlock)
    await options.loaded()
    const { lease, earlier } = await store.generation.leases(cursor.generation)
    return {
      epoch,
      lease,
      earlier,
      cursor,
      remembered: await store.position.remembered(cursor.scanned.number),
      reorganisations: ++loads * LOADED,
    }
  }
  const applyBlocks = async (at: ScanSession, { batch, judged }: Extract<Reading, { kind: 'batch' }>): Promise<void> => {
    const from = at.cursor.scanned.number
    const head = { number: batch.head, time: batch.headTime }
    const believed = batch.finalized
      ? consensus.onFinalized(at, batch, judged, head)
      : options.confirmsAlone
        ? consensus.onAlone(batch)
        : votes.shownIn(batch)
    const payments = await believed
    if (!payments) return
    await steps.applyBlocks(at, { ...batch, payments })
    progress.moved(from, at.cursor.scanned.number, batch.head)
    await consensus.confirm(at, head)
  }
  const act = async (at: ScanSession, read: Reading): Promise<boolean> => {
    if (read.kind === 'batch') await applyBlocks(at, read)
    if (read.kind === 'forked') await consensus.follow(at, read)
    if (read.kind !== 'wait' || (await consensus.confirm(at, read.head))) return true
    if (writer.announcementDueMs(at) === 0) await steps.announce(at, read.head)
    return false
  }
  /** Reading goes before everything else: what it waits for is at most its own question. */
  const turn = async (at: ScanSession): Promise<boolean> => {
    if (at.cursor.version === 0) await steps.announce(at, { number: at.cursor.scanned.number, time: 0 })
    const { isUnfollowed, isMissing, isAsked, republishFrom } = await store.position.owed()
    if (isUnfollowed) {
      await store.coverage.readOn(at.epoch, at.cursor.scanned.number + 1)
      await options.loaded()
      reading.judgeAgain()
    }
    const read = await reading.next(at)
    looked = { epoch: at.epoch, at: performance.now() }
    const more = await act(at, read)
    const applied = await gaps.apply(at)
    if (isMissing) gaps.begin(at)
    const answered = isAsked && (await steps.answer(at))
    const republished = republishFrom !== null && (await steps.republish(at, republishFrom))
    return republished || answered || applied || more
  }
  return {
    async step(): Promise<boolean> {
      const epoch = leader.epoch()
      if (epoch === undefined || halt) {
        session = undefined
        looked = undefined
        return false
      }
      if (looked?.epoch !== epoch) looked = { epoch, at: performance.now() }
      try {
        if (session?.epoch !== epoch) session = await load(epoch)
        const more = await turn(session)
        recovery.succeeded()
        return more
      } catch (error) {
        const next = recovery.recover(error)
        if (next.reload) session = undefined
        if (next.halt) {
          halt = next.halt
          options.halted(halt)
        }
        if (next.unknown) throw error
        return next.more
      }
    },
    /** The state in memory while this replica leads. */
    view: () => ({
      cursor: session?.cursor,
      head: reading.head(),
      unlinkedMs: session ? reading.unlinkedMs() : 0,
      progress: progress.now(),
      halt,
      blindMs: looked && performance.now() - looked.at,
    }),
    announcementDueMs: () => (session ? writer.announcementDueMs(session) : undefined),
    /** True while confirmations wait for the vote of other nodes. */
    awaitsVotes: () => session !== undefined && steps.confirmable(session) !== undefined,
  }
}
export type Scanner = ReturnType<typeof createScanner>

/** Fixes the first position on an empty database: the block before START_BLOCK, whose hash the first block must name as its parent. */
async function anchor({ nodes, store, watch, startBlock }: ScannerOptions, epoch: bigint): Promise<Cursor> {
  const [before, genesis] = await nodes.use('headers', node =>
    strictly(async () => {
      const { results } = await node.ask([chainCall, blockCall(Math.max(0, startBlock - 1)), blockCall(0)])
      demandChain(watch, results[0])
      return [startBlock === 0 ? undefined : toHeader(results[1], watch), toHeader(results[2], { ...watch, header: null })]
    }),
  )
  if (startBlock > 0 && !before) throw new Error(`START_BLOCK is ${startBlock}, but the chain has no block before it yet.`)
  await store.position.anchor(epoch, before, startBlock, genesis?.hash ?? null)
  // A subject that is watched from the first block on is level with the cursor.
  await store.coverage.follow(epoch, watch.routers, null)
  const cursor = await store.position.find()
  if (!cursor) throw new Error('the first position was not written')
  return cursor
}
