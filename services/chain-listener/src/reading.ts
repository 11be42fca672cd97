import type { Logger } from '@ponte/service-kit'
import type { Block, Position } from './block'
import type { Head, Lead } from './book'
import { DistrustError, type Nodes } from './nodes'
import { findAncestor, type Header, hasPayments, look, readBlock, readBlocks, readFinished, type Stretch } from './reader'
import type { Node } from './rpc'
import { RpcError } from './rpc-error'
import { afterAnswer, afterTooWide, plan, relate, type Span } from './scan'
import type { Watch } from './watch'

/** What a turn of reading came to. */
export type Reading =
  | { kind: 'wait'; head: Head }
  | { kind: 'stretch'; stretch: Stretch; rpc: string }
  | { kind: 'forked'; ancestor: Block; head: Head; rpc: string }

export interface ReadingOptions {
  nodes: Nodes
  watch: Watch
  window: number
  rangeMax: number
  stallMs: number
  logger: Logger
}

const FIRST_SPAN = 200

/** Reads on from a position, whichever node does it best; keeps the size of questions to what the nodes bear. */
export function createReading(options: ReadingOptions) {
  const { nodes, watch, window, rangeMax } = options
  let span: Span = { blocks: Math.min(FIRST_SPAN, rangeMax), ceiling: rangeMax }
  let head = -1
  let ahead: { from: Position; reading: Promise<Reading> } | undefined
  let comparedAt = performance.now()
  let doubted = new Set<string>()

  const learn = (node: Node, seen: { head: number; bytes: number; ms: number }) => {
    head = seen.head
    nodes.sawHead(node.name, seen.head)
    span = afterAnswer(span, seen, rangeMax)
  }
  const finished = (from: Position, to: number) =>
    nodes.use(async (node): Promise<Reading> => {
      const stretch = await readFinished(node, watch, from, to, window)
      learn(node, stretch)
      return { kind: 'stretch', stretch, rpc: node.name }
    })
  const nearHead = (lead: Lead) =>
    nodes.use(async (node): Promise<Reading> => {
      const from = lead.cursor.scanned
      const seen = await look(node, watch, from)
      nodes.sawHead(node.name, seen.head.number)
      await compareHeads(node, seen.head.number)
      const relation = relate(from, seen.head, seen.at)
      if (relation !== 'linked') return unlinked(node, seen.head, relation === 'behind', lead)
      head = seen.head.number
      const next = plan({ scanned: from.number, head, window, span: span.blocks })
      if (next.kind === 'wait') return { kind: 'wait', head: seen.head }
      const stretch =
        next.kind === 'finished'
          ? await readFinished(node, watch, from, next.to, window)
          : await readBlocks(node, watch, from, next.to, seen.head, headers => doubt(node, headers))
      learn(node, stretch)
      return { kind: 'stretch', stretch, rpc: node.name }
    })

  /** The node's chain is not ours, or shorter: look for the last block we have in common. */
  const unlinked = async (node: Node, theirs: Block, behind: boolean, { remembered, cursor }: Lead): Promise<Reading> => {
    const lowest = remembered.at(-1)
    const below = lowest !== undefined && theirs.number < lowest.number
    if (below && cursor.genesisHash !== null) await demandGenesis(node, cursor.genesisHash)
    if (behind || below) throw new DistrustError('behind', `the node's head is ${theirs.number}, behind ours`)
    const ancestor = await findAncestor(node, remembered)
    if (!ancestor) throw new DistrustError('foreign_chain', `the node knows none of the last ${remembered.length} blocks we read`)
    if (ancestor.number === theirs.number) throw new DistrustError('behind', `the node's head is ${theirs.number}, behind ours`)
    return { kind: 'forked', ancestor, head: theirs, rpc: node.name }
  }

  /**
   * A bloom also admits blocks without our logs. Another node settles it; without one the same node is asked once more at the next turn, when
   * logs that were late are there.
   */
  const doubt = async (node: Node, headers: readonly Header[]) => {
    const fresh = headers.filter(({ hash }) => !doubted.has(hash))
    if (fresh.length === 0) return
    const others = await nodes.ballot(
      async other => other.name !== node.name && (await hasPayments(other, watch, fresh)),
      values => values.includes(true),
    )
    const numbers = fresh.map(({ number }) => number).join(', ')
    if (others.some(({ value }) => value))
      throw new DistrustError('wrong_answer', `the node shows no payments in block ${numbers}, others do`)
    doubted = new Set(headers.map(({ hash }) => hash))
    if (others.length <= 1) throw new RpcError('beyond_head', `the logs of block ${numbers} may be late`)
  }

  const demandGenesis = async (node: Node, ours: string) => {
    const theirs = await readBlock(node, 0)
    if (theirs.hash !== ours) throw new DistrustError('foreign_chain', `the node's block 0 is ${theirs.hash}, ours was ${ours}`)
  }

  /** A head that does not move, or lies far behind, is only suspicious beside a node that shows a higher one. */
  const compareHeads = async (node: Node, ours: number) => {
    const since = performance.now() - comparedAt
    if (since < options.stallMs && !(nodes.standsStill(node.name) && since > options.stallMs / 4)) return
    comparedAt = performance.now()
    const heads = await nodes.ballot(
      async other => (await look(other, watch, { number: -1, hash: null })).head.number,
      () => false,
    )
    for (const head of heads) nodes.sawHead(head.node.name, head.value)
    const highest = Math.max(ours, ...heads.map(head => head.value))
    const tolerated = nodes.standsStill(node.name) ? 0 : window
    if (highest > ours + tolerated) throw new DistrustError('stalled', `the node's head is ${ours} while another shows ${highest}`)
  }

  const planFrom = (from: Position) => plan({ scanned: from.number, head, window, span: span.blocks })
  return {
    /** The next stretch after our position; the one after that is asked for meanwhile while catching up. Throws RpcError, NoNodeError. */
    async next(lead: Lead): Promise<Reading> {
      const from = lead.cursor.scanned
      const next = planFrom(from)
      const asked = ahead && ahead.from.number === from.number && ahead.from.hash === from.hash ? ahead.reading : undefined
      ahead = undefined
      const reading = await (asked ?? (next.kind === 'finished' && from.hash !== null ? finished(from, next.to) : nearHead(lead)))
      const last = reading.kind === 'stretch' ? reading.stretch.blocks.at(-1) : undefined
      const after = last && planFrom(last)
      if (last && after?.kind === 'finished') {
        const promise = finished(last, after.to)
        // Whoever awaits it later sees the failure; until then it must not count as unhandled.
        promise.catch(() => undefined)
        ahead = { from: last, reading: promise }
      }
      return reading
    },
    /** Forgets what was read ahead and believed of the head: the next reading looks first. */
    restart() {
      ahead = undefined
      head = -1
    },
    /** Asks for less from now on; false when even one block was too much. */
    shrink(error: RpcError): boolean {
      const smaller = afterTooWide(span, span.blocks, error.hints.suggestedBlocks)
      ahead = undefined
      if (!smaller) return false
      span = smaller
      options.logger.info('the range was too wide; asking for less', { blocks: span.blocks, detail: error.message })
      return true
    },
    /** Takes note of an answer that was asked for elsewhere, with `span()`. */
    grow(answer: { bytes: number; ms: number }) {
      span = afterAnswer(span, answer, rangeMax)
    },
    head: () => head,
    span: () => span.blocks,
  }
}
export type Reader = ReturnType<typeof createReading>
