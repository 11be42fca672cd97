import type { Logger } from '@ponte/service-kit'
import type { Block, Position } from '../logs/block'
import type { Watch } from '../logs/filter'
import { fetchHead, type Header } from '../proof/header'
import type { RpcError } from '../rpc/error'
import type { Node } from '../rpc/node'
import type { Nodes } from '../rpc/pool'
import { createNodeChecks } from './checks/node'
import { type Reach, UndecidedError } from './checks/reach'
import { type BlockBatch, fetchBlocks, fetchFinalized } from './fetch'
import { createPace } from './pace'
import { plan, relate } from './plan'
import type { Head, ScanSession } from './session'

/** What a turn of reading came to. */
export type Reading =
  | { kind: 'wait'; head: Head }
  | { kind: 'batch'; batch: BlockBatch; rpc: string }
  | { kind: 'forked'; ancestor: Block; head: Head; rpc: string }

export interface FetchAheadOptions {
  nodes: Nodes
  watch: Watch
  window: number
  rangeMax: number
  stallMs: number
  reach: Reach
  logger: Logger
}

/** What is asked for while the batch before it is written. */
function createAhead() {
  let asked: { from: Position; reading: Promise<Reading> } | undefined
  return {
    put(from: Position, reading: Promise<Reading>): void {
      // The caller that awaits it later sees the failure; until then it must not count as unhandled.
      reading.catch(() => undefined)
      asked = { from, reading }
    },
    /** The reading from this position, if that is what was asked for; it is given once. */
    take(from: Position): Promise<Reading> | undefined {
      const given = asked?.from.number === from.number && asked.from.hash === from.hash ? asked.reading : undefined
      asked = undefined
      return given
    },
    drop(): void {
      asked = undefined
    },
  }
}

/** Reads on from a position, whichever node does it best; keeps the size of questions to what the nodes bear. */
export function createFetchAhead(options: FetchAheadOptions) {
  const { nodes, watch, window, rangeMax } = options
  const pace = createPace(rangeMax, options.logger)
  let head = -1
  /** The head that enough nodes were last known to have. */
  let reached = -1
  const ahead = createAhead()
  const checks = createNodeChecks(options)

  const learn = (node: Node, seen: BlockBatch) => {
    head = seen.head
    nodes.sawHead(node.name, seen.head)
    pace.grow(seen)
  }
  const planFrom = (from: Position, known = reached) => plan({ scanned: from.number, head, reached: known, window, span: pace.blocks() })
  /** What to read after a look at the head of one node. */
  const planAfter = async (from: Position) => {
    if (planFrom(from, head).kind !== 'finalized') return planFrom(from, head)
    const now = await options.reach(from.number, from.number + 1 + window)
    if (now === undefined) throw new UndecidedError('too few RPC end points answer how far the chain is')
    reached = now
    return planFrom(from)
  }
  const finalized = (from: Position, to: number) =>
    nodes.use(async (node): Promise<Reading> => {
      const batch = await fetchFinalized(node, watch, from, to, window)
      learn(node, batch)
      return { kind: 'batch', batch, rpc: node.name }
    })
  const nearHead = (session: ScanSession) =>
    nodes.use(async (node): Promise<Reading> => {
      const from = session.cursor.scanned
      const seen = await fetchHead(node, watch, from)
      nodes.sawHead(node.name, seen.head.number)
      await checks.compareHeads(node, seen.head.number)
      const relation = relate(from, seen.head, seen.at)
      if (relation !== 'linked') {
        const ancestor = await checks.ancestorIn(node, seen.head, relation === 'behind', session)
        return { kind: 'forked', ancestor, head: seen.head, rpc: node.name }
      }
      head = seen.head.number
      const next = await planAfter(from)
      if (next.kind === 'wait') return { kind: 'wait', head: seen.head }
      const verifyEmptyLogs = (headers: readonly Header[]) => checks.verifyEmptyLogs(node, headers)
      const near = () => fetchBlocks(node, watch, from, next.to, seen.head, verifyEmptyLogs)
      const batch = await (next.kind === 'finalized' ? fetchFinalized(node, watch, from, next.to, window) : near())
      learn(node, batch)
      return { kind: 'batch', batch, rpc: node.name }
    })

  return {
    /** The next batch after our position; the one after that is asked for meanwhile while catching up. Throws RpcError, NoNodeError. */
    async next(session: ScanSession): Promise<Reading> {
      const from = session.cursor.scanned
      const next = planFrom(from)
      const reading = await (ahead.take(from) ??
        (next.kind === 'finalized' && from.hash !== null ? finalized(from, next.to) : nearHead(session)))
      const last = reading.kind === 'batch' ? reading.batch.blocks.at(-1) : undefined
      const after = last && planFrom(last)
      if (last && after?.kind === 'finalized') ahead.put(last, finalized(last, after.to))
      return reading
    },
    /** Forgets what was read ahead and believed of the head: the next reading looks first. */
    restart() {
      ahead.drop()
      head = -1
      reached = -1
    },
    /** Asks for less from now on; false when even one block was too much. */
    shrink(error: RpcError): boolean {
      ahead.drop()
      return pace.shrink(error)
    },
    head: () => head,
    span: pace.blocks,
  }
}
export type FetchAhead = ReturnType<typeof createFetchAhead>
