import type { Logger } from '@ponte/service-kit'
import type { Block } from './block'
import { type CatchUp, catchUp } from './catch-up'
import type { Cursor } from './cursor'
import type { Leader } from './leader'
import { DistrustError, type Nodes, NoNodeError } from './nodes'
import { type Change, ContradictionError, confirm, include, merge, orphan, toEvents } from './payment'
import { blockCall, ForkedError, type Stretch, toBlock, type Watch } from './reader'
import { createReading, type Reading, VanishedError } from './reading'
import { RpcError } from './rpc-error'
import { confirmedLine } from './scan'
import type { Store } from './store'
import { LeaseLostError, type Step } from './store/commit'
import { toDate } from './store/cursor'

export interface ScannerOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  watch: Watch
  token: string
  startBlock: number
  confirmations: number
  window: number
  rangeMax: number
  stallMs: number
  advanceEveryMs: number
  checksum(address: string): string
  logger: Logger
  /** Something was committed; the outbox has work. */
  committed(change: Change, step: Step, head: { number: number; time: number }): void
  reorganised(depth: number): void
  /** The chain is not the one we followed, and nothing may be read any more. */
  halted(error: Error): void
}

/** What this replica holds in memory while it leads; anything uncertain is thrown away and read from the database again. */
interface Lead {
  epoch: bigint
  cursor: Cursor
  /** Highest first. */
  remembered: Block[]
  prunedAt: number
}

const REFUSALS_UNTIL_DISTRUST = 3
const PRUNE_EVERY = 64

export function createScanner(options: ScannerOptions) {
  const { store, nodes, leader, watch, logger } = options
  let lead: Lead | undefined
  let halt: Error | undefined
  let refusals = 0
  let announcedAt = Number.NEGATIVE_INFINITY
  let progress: CatchUp | undefined
  const reading = createReading({
    nodes,
    watch,
    window: options.window,
    rangeMax: options.rangeMax,
    stallMs: options.stallMs,
    remembered: () => lead?.remembered ?? [],
    genesis: () => lead?.cursor.genesisHash ?? null,
    logger,
  })

  /** Where we stand, from the database; on an empty one the first position is fixed. */
  const load = async (epoch: bigint): Promise<Lead> => {
    reading.restart()
    const cursor = (await store.cursor()) ?? (await anchor(epoch))
    return { epoch, cursor, remembered: await store.remembered(cursor.scanned.number), prunedAt: cursor.scanned.number }
  }
  const anchor = async (epoch: bigint): Promise<Cursor> => {
    const { startBlock } = options
    const [before, genesis] = await nodes.use(async node => {
      const { results } = await node.ask([{ method: 'eth_chainId', params: [] }, blockCall(Math.max(0, startBlock - 1)), blockCall(0)])
      if (Number(results[0]) !== watch.chainId) throw new DistrustError('wrong_chain', `the node is of chain ${results[0]}`)
      return [startBlock === 0 ? undefined : toBlock(results[1]), toBlock(results[2])]
    })
    if (startBlock > 0 && !before) throw new Error(`START_BLOCK is ${startBlock}, but no node has the block before it.`)
    await store.anchor(epoch, before, startBlock, genesis?.hash ?? null)
    const cursor = await store.cursor()
    if (!cursor) throw new Error('the first position was not written')
    return cursor
  }

  const advance = (cursor: Cursor, head: number) => {
    const { number, time } = cursor.confirmed
    if (number <= cursor.announced || time === null) return []
    if (performance.now() - announcedAt < options.advanceEveryMs) return []
    const data = {
      chain_id: watch.chainId,
      confirmed_block: number,
      confirmed_time: time.toISOString(),
      head_block: head,
      sequence: cursor.sequence,
    }
    return [{ type: 'chain.advanced' as const, data }]
  }

  /** Writes a change and a new cursor; what was true in memory is true in the database, or both are forgotten. */
  const commit = async (
    at: Lead,
    change: Change,
    next: Cursor,
    write: { head: Stretch | number; blocks: Block[]; forgetAbove?: number },
  ) => {
    const head = typeof write.head === 'number' ? { number: write.head, time: 0 } : { number: write.head.head, time: write.head.headTime }
    const facts = toEvents(change.facts, { ...options, chainId: watch.chainId, sequence: at.cursor.sequence })
    const cursor = { ...next, sequence: at.cursor.sequence + facts.length }
    const advanced = advance(cursor, head.number)
    if (advanced.length > 0) cursor.announced = cursor.confirmed.number
    if (leader.epoch() !== at.epoch) throw new LeaseLostError('this replica does not lead any more')
    const step: Step = {
      cursor,
      head: head.number,
      blocks: write.blocks,
      payments: change.payments,
      events: [...facts, ...advanced],
      ...(write.forgetAbove === undefined ? {} : { forgetAbove: write.forgetAbove }),
    }
    await store.commit(at.epoch, step)
    at.cursor = cursor
    const kept = at.remembered.filter(block => block.number <= (write.forgetAbove ?? block.number))
    at.remembered = [...write.blocks.toReversed(), ...kept].filter(block => block.number >= cursor.scanned.number - options.window)
    if (advanced.length > 0) announcedAt = performance.now()
    options.committed(change, step, head)
  }

  const takeIn = async (at: Lead, stretch: Stretch) => {
    const last = stretch.blocks.at(-1)
    if (!last) throw new Error('an empty stretch was read')
    const { confirmed } = at.cursor
    const line = stretch.finished
      ? last.number
      : confirmedLine({ scanned: last.number, confirmed: confirmed.number, confirmations: options.confirmations })
    const [known, waiting] = await Promise.all([
      store.ofTransactions(stretch.payments.map(({ txHash }) => txHash)),
      line > confirmed.number ? store.toConfirm(line) : [],
    ])
    const included = include(stretch.payments, known, { isConfirmed: number => number <= line, finished: stretch.finished })
    const change = merge(confirm(waiting), included)
    const lineBlock = [...stretch.blocks, ...at.remembered].find(({ number }) => number === line)
    const next: Cursor = {
      ...at.cursor,
      scanned: { number: last.number, hash: last.hash, time: toDate(last.time) },
      confirmed: lineBlock ? { number: line, time: toDate(lineBlock.time) } : confirmed,
    }
    progress = catchUp(progress, { from: at.cursor.scanned.number, to: last.number, head: stretch.head, at: performance.now() })
    await commit(at, change, next, { head: stretch, blocks: stretch.blocks })
    if (last.number - at.prunedAt < PRUNE_EVERY) return
    at.prunedAt = last.number
    await store.forget(last.number - options.window)
  }

  const goBack = async (at: Lead, ancestor: Block, rpc: string) => {
    const { scanned, confirmed } = at.cursor
    const depth = scanned.number - ancestor.number
    const deep = ancestor.number < confirmed.number
    const change = orphan(await store.above(ancestor.number))
    const time = toDate(ancestor.time)
    logger[deep ? 'error' : 'warn']('the chain was reorganised', {
      depth,
      ancestor: ancestor.number,
      orphaned: change.payments.length,
      deep,
      rpc,
    })
    reading.restart()
    const next: Cursor = {
      ...at.cursor,
      scanned: { number: ancestor.number, hash: ancestor.hash, time },
      confirmed: deep ? { number: ancestor.number, time } : confirmed,
    }
    await commit(at, change, next, { head: Math.max(reading.head(), ancestor.number), blocks: [], forgetAbove: ancestor.number })
    options.reorganised(depth)
  }

  const act = async (at: Lead, read: Reading): Promise<boolean> => {
    refusals = 0
    if (read.kind === 'forked') await goBack(at, read.ancestor, read.rpc)
    else if (read.kind === 'stretch') await takeIn(at, read.stretch)
    else {
      if (advance(at.cursor, read.head).length > 0)
        await commit(at, { payments: [], facts: [] }, at.cursor, { head: read.head, blocks: [] })
      return false
    }
    return true
  }

  /** What a failed turn means for the next one. Answers whether to go on at once. */
  const afterFailure = (error: unknown): boolean => {
    const inUse = nodes.view().find(node => node.in_use)?.name
    if (error instanceof RpcError && error.kind === 'too_wide') {
      if (reading.shrink(error)) return true
      if (inUse) nodes.distrust(inUse, 'too_wide', error.message)
      return false
    }
    if (error instanceof RpcError && error.kind === 'beyond_head') {
      reading.restart()
      if (++refusals >= REFUSALS_UNTIL_DISTRUST && inUse) nodes.distrust(inUse, 'behind', error.message)
      return false
    }
    if (error instanceof ForkedError) {
      reading.restart()
      return true
    }
    lead = undefined
    if (error instanceof ContradictionError) {
      if (inUse) nodes.distrust(inUse, 'wrong_answer', error.message)
      return true
    }
    if (error instanceof LeaseLostError) {
      leader.resign(error.message)
      return false
    }
    if (!(error instanceof NoNodeError)) throw error
    if (nodes.view().every(node => node.resting === 'foreign_chain')) stopForGood()
    else logger.debug('the scan waits', { error })
    return false
  }
  const stopForGood = () => {
    halt = new VanishedError(
      `Chain ${watch.chainId} does not contain the blocks that were read before: the RPC end points serve another chain, or this one was begun anew. ` +
        'Nothing is skipped. Point RPC_URLS to the chain of this database, or give the listener an empty database.',
    )
    logger.error('the scan stops', { error: halt })
    options.halted(halt)
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
        return await act(lead, await reading.next(lead.cursor.scanned))
      } catch (error) {
        return afterFailure(error)
      }
    },
    /** What memory says while this replica leads. */
    view: () => ({ cursor: lead?.cursor, head: reading.head(), span: reading.span(), progress, halt }),
    /** Milliseconds until a `chain.advanced` that was held back is due; undefined when none is. */
    announcementDueMs: () =>
      lead && lead.cursor.confirmed.number > lead.cursor.announced && lead.cursor.confirmed.time !== null
        ? Math.max(0, announcedAt + options.advanceEveryMs - performance.now())
        : undefined,
  }
}
export type Scanner = ReturnType<typeof createScanner>
