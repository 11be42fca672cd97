import type { Block, Position } from '../logs/block'
import type { Watch } from '../logs/filter'
import { fetchHead } from '../proof/header'
import type { Node } from '../rpc/node'
import type { Nodes } from '../rpc/pool'
import { createNodeChecks } from './checks/node'
import type { Judged, Votes } from './checks/quorum'
import { type Reach, UndecidedError } from './checks/reach'
import { type BlockBatch, fetchBlocks, fetchFinalized } from './fetch'
import { plan, relate } from './plan'
import type { Head, ScanSession } from './session'

export type Reading =
  | { kind: 'wait'; head: Head }
  | { kind: 'batch'; batch: BlockBatch; rpc: string; judged?: Promise<Judged> | undefined; addresses?: number }
  | { kind: 'forked'; ancestor: Block; head: Head; rpc: string }

export interface FetchAheadOptions {
  nodes: Nodes
  watch: Watch
  window: number
  quorum: number
  reach: Reach
  votes(): Votes
}

/** Ranges that are read and judged at once: a node that is far away is waited for by all of them together. */
const RANGES_AT_ONCE = 4

function createAhead(readOn: (last: Block) => Promise<Reading> | undefined) {
  let asked: { from: Position; reading: Promise<Reading> }[] = []
  let newest: Promise<Reading> | undefined
  /** Asks for what follows the newest as soon as that is read. */
  const goOn = () => {
    const before = newest
    const follow = (read: Reading) => {
      const last = read.kind === 'batch' ? read.batch.blocks.at(-1) : undefined
      if (before !== newest || !last || asked.length >= RANGES_AT_ONCE) return
      const reading = readOn(last)
      if (!reading) return
      asked.push({ from: last, reading })
      newest = reading
      goOn()
    }
    // The caller that awaits it sees the failure; until then it must not count as unhandled.
    before?.then(follow, () => undefined)
  }
  return {
    /** The reading from this position, if that is what was asked for; it is given once. */
    take(from: Position, anew: () => Promise<Reading>): Promise<Reading> {
      const next = asked.shift()
      const given = next?.from.number === from.number && next.from.hash === from.hash ? next.reading : undefined
      if (!given) {
        asked = []
        newest = anew()
      }
      goOn()
      return given ?? newest ?? anew()
    },
    drop(): void {
      asked = []
      newest = undefined
    },
  }
}

/** Reads on from a position, whichever node does it best. */
export function createFetchAhead(options: FetchAheadOptions) {
  const { nodes, watch, window } = options
  let head = -1
  /** The head that enough nodes were last known to have. */
  let reached = -1
  /** Since when each node that shows a higher head has lacked the block at our position; undefined while one has it. */
  let unlinkedSince: number | undefined
  /** Changes when addresses are added: what was judged before knew nothing of them. */
  let addresses = 0
  const checks = createNodeChecks({ ...options, prove: headers => options.votes().prove(headers) })

  const planFrom = (from: Position, known = reached) =>
    plan({ scanned: from.number, head, reached: known, window, span: Number.POSITIVE_INFINITY })
  /** Decided after a look at the head of one node. */
  const planAfter = async (from: Position) => {
    if (planFrom(from, head).kind !== 'finalized') return planFrom(from, head)
    const now = await options.reach(from.number, from.number + 1 + window)
    if (now === undefined) throw new UndecidedError('too few RPC end points answer how far the chain is')
    reached = now
    return planFrom(from)
  }
  const finalized = async (from: Position, to: number): Promise<Reading> => {
    const read = async (node: Node) => ({ batch: await fetchFinalized(node, watch, from, to, window), rpc: node.name })
    const { batch, rpc } = await nodes.use('logs', read)
    head = batch.head
    nodes.sawHead(rpc, batch.head)
    const judged = options.votes().onFinalized(batch)
    judged.catch(() => undefined)
    return { kind: 'batch', batch, rpc, judged, addresses }
  }
  const ahead = createAhead(last => {
    const after = planFrom(last)
    return after.kind === 'finalized' ? finalized(last, after.to) : undefined
  })
  /** A node's head, and where its chain leaves ours if it does. */
  const look = async (node: Node, session: ScanSession) => {
    const from = session.cursor.scanned
    const seen = await fetchHead(node, watch, from)
    nodes.sawHead(node.name, seen.head.number)
    await checks.compareHeads(seen.head.number)
    const relation = relate(from, seen.head, seen.at)
    unlinkedSince = relation === 'behind' ? (unlinkedSince ?? performance.now()) : undefined
    const ancestor = relation === 'linked' ? undefined : await checks.ancestorIn(node, seen.head, relation === 'behind', session)
    return { head: seen.head, ancestor, rpc: node.name }
  }
  const nearHead = async (session: ScanSession): Promise<Reading> => {
    const from = session.cursor.scanned
    const seen = await nodes.use('head', node => look(node, session))
    if (seen.ancestor) return { kind: 'forked', ancestor: seen.ancestor, head: seen.head, rpc: seen.rpc }
    head = seen.head.number
    const next = await planAfter(from)
    if (next.kind === 'wait') return { kind: 'wait', head: seen.head }
    if (next.kind === 'finalized') return finalized(from, next.to)
    return nodes.use('blocks', async node => {
      const batch = await fetchBlocks(node, watch, from, next.to, seen.head, empty => checks.verifyEmptyLogs(node, empty))
      return { kind: 'batch', batch, rpc: node.name, addresses }
    })
  }

  return {
    /** The next batch after our position; the one after that is asked for meanwhile while catching up. Throws RpcError, NoNodeError. */
    async next(session: ScanSession): Promise<Reading> {
      const from = session.cursor.scanned
      const next = planFrom(from)
      const reading = await ahead.take(from, () =>
        next.kind === 'finalized' && from.hash !== null ? finalized(from, next.to) : nearHead(session),
      )
      return reading.kind === 'batch' && reading.addresses !== addresses ? { ...reading, judged: undefined } : reading
    },
    judgeAgain() {
      addresses += 1
    },
    /** Forgets what was read ahead and believed of the head: the next reading looks first. */
    restart() {
      ahead.drop()
      head = -1
      reached = -1
    },
    head: () => head,
    unlinkedMs: () => (unlinkedSince === undefined ? 0 : performance.now() - unlinkedSince),
  }
}
export type FetchAhead = ReturnType<typeof createFetchAhead>
