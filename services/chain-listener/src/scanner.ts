import type { Logger } from '@ponte/service-kit'
import type { Book, Head, Lead } from './book'
import { type CatchUp, catchUp, progressOf } from './catch-up'
import type { Cursor } from './cursor'
import { createFaults, UndecidedError } from './faults'
import { readLate } from './late-routers'
import type { Leader } from './leader'
import type { Nodes } from './nodes'
import { blockCall, chainCall, demandChain, type Stretch, toBlock } from './reader'
import type { Reader, Reading } from './reading'
import type { Steps } from './steps'
import type { Store } from './store'
import type { Late } from './store/routers'
import type { Votes } from './votes'
import type { Watch } from './watch'

export interface ScannerOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  watch: Watch
  book: Book
  steps: Steps
  votes: Votes
  reading: Reader
  startBlock: number
  logger: Logger
  /** The chain is not the one we followed, and nothing may be read any more. */
  halted(error: Error): void
}

const BEFORE_GENESIS = { number: -1, hash: null, time: null }
const REPORT_EVERY_MS = 5_000

/** The scan of one chain, turn by turn, in the replica that leads. */
export function createScanner(options: ScannerOptions) {
  const { store, leader, book, steps, votes, reading, logger } = options
  let lead: Lead | undefined
  let halt: Error | undefined
  let progress: CatchUp | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  const faults = createFaults(options)

  const load = async (epoch: bigint): Promise<Lead> => {
    reading.restart()
    const cursor = (await store.cursor()) ?? (await anchor(options, epoch))
    await store.follow(epoch, options.watch.routers, options.startBlock - 1)
    return { epoch, cursor, remembered: await store.remembered(cursor.scanned.number), late: await store.late() }
  }
  const follows = (from: number, to: number, head: number) => {
    const at = performance.now()
    progress = catchUp(progress, { from, to, head, at })
    if (!progress || at - reportedAt < REPORT_EVERY_MS) return
    reportedAt = at
    logger.info('catching up', { scanned: to, head, ...progressOf(progress) })
  }
  const takeIn = async (at: Lead, stretch: Stretch): Promise<boolean> => {
    const from = at.cursor.scanned.number
    const head = { number: stretch.head, time: stretch.headTime }
    if (stretch.finished && !(await isAgreed(at, stretch, head))) return true
    await steps.takeIn(at, stretch)
    follows(from, at.cursor.scanned.number, stretch.head)
    await confirmByVote(at, head)
    return true
  }
  /** A finished span confirms everything up to its end, so the nodes must agree on all that is not confirmed yet. */
  const isAgreed = async (at: Lead, { blocks, payments }: Stretch, head: Head): Promise<boolean> => {
    const { scanned, confirmed } = at.cursor
    const pending = confirmed.number < scanned.number ? await store.between(confirmed.number + 1, scanned.number) : []
    const outcome = await votes.onSpan(confirmed.number + 1, blocks.at(-1), [...pending, ...payments])
    if (outcome === 'ours') return true
    reading.restart()
    if (outcome === 'undecided') throw new UndecidedError('the RPC end points do not agree on a finished span')
    if (confirmed.number < scanned.number) await backToConfirmed(at, head)
    return false
  }
  const backToConfirmed = async (at: Lead, head: Head) => {
    const { number } = at.cursor.confirmed
    const block = number < 0 ? BEFORE_GENESIS : at.remembered.find(remembered => remembered.number === number)
    if (!block) throw new Error(`block ${number} is not remembered, so the scan cannot go back to it`)
    reading.restart()
    await steps.goBack(at, block, head, 'outvoted')
  }
  /** Near the head detecting is one node's word, confirming is not. Answers whether it is worth going on at once. */
  const confirmByVote = async (at: Lead, head: Head): Promise<boolean> => {
    const next = steps.confirmable(at)
    if (!next) return false
    const outcome = await votes.onSpan(next.from, next.to, await store.between(next.from, next.to.number))
    if (outcome === 'ours') await steps.confirmUpTo(at, next.to, head)
    if (outcome === 'theirs') await backToConfirmed(at, head)
    return outcome !== 'undecided'
  }
  const follow = async (at: Lead, fork: Extract<Reading, { kind: 'forked' }>): Promise<boolean> => {
    if (await votes.onDeepFork(at, fork.ancestor)) {
      reading.restart()
      await steps.goBack(at, fork.ancestor, fork.head, 'reorganisation')
      return true
    }
    options.nodes.distrust(fork.rpc, 'outvoted', 'it alone shows a chain without blocks that are confirmed')
    return true
  }
  const catchUpLate = async (at: Lead, late: Late): Promise<boolean> => {
    const { from, to } = await readLate(at, late, options)
    follows(from - 1, to, at.cursor.scanned.number)
    return true
  }
  const act = async (at: Lead, read: Reading): Promise<boolean> => {
    if (read.kind === 'stretch') return takeIn(at, read.stretch)
    if (read.kind === 'forked') return follow(at, read)
    if (await confirmByVote(at, read.head)) return true
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
        const more = lead.late && !faults.mustLook() ? await catchUpLate(lead, lead.late) : await act(lead, await reading.next(lead))
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
    view: () => ({ cursor: lead?.cursor, head: reading.head(), progress, halt }),
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
