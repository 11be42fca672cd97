import type { Logger } from '@ponte/service-kit'
import type { Block, Position } from '../logs/block'
import type { Watch } from '../logs/filter'
import type { RpcError } from '../rpc/error'
import type { Node } from '../rpc/node'
import type { Nodes } from '../rpc/pool'
import { type Header, look, readBlocks, readFinished, type Stretch } from './fetch'
import { createSuspicion } from './node-checks'
import { afterAnswer, afterTooWide, plan, relate, type Span } from './plan'
import type { Head, Lead } from './session'

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

/** How many blocks are asked for at once. */
function createPace(rangeMax: number, logger: Logger) {
  let span: Span = { blocks: Math.min(FIRST_SPAN, rangeMax), ceiling: rangeMax }
  return {
    blocks: () => span.blocks,
    grow(answer: { bytes: number; ms: number }): void {
      span = afterAnswer(span, answer, rangeMax)
    },
    shrink(error: RpcError): boolean {
      const smaller = afterTooWide(span, span.blocks, error.hints.suggestedBlocks)
      if (!smaller) return false
      span = smaller
      logger.info('the range was too wide; asking for less', { blocks: span.blocks, detail: error.message })
      return true
    },
  }
}

/** What is asked for while the stretch before it is written. */
function createAhead() {
  let asked: { from: Position; reading: Promise<Reading> } | undefined
  return {
    put(from: Position, reading: Promise<Reading>): void {
      // Whoever awaits it later sees the failure; until then it must not count as unhandled.
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
export function createReading(options: ReadingOptions) {
  const { nodes, watch, window, rangeMax } = options
  const pace = createPace(rangeMax, options.logger)
  let head = -1
  const ahead = createAhead()
  const suspicion = createSuspicion(options)

  const learn = (node: Node, seen: { head: number; bytes: number; ms: number }) => {
    head = seen.head
    nodes.sawHead(node.name, seen.head)
    pace.grow(seen)
  }
  const planFrom = (from: Position) => plan({ scanned: from.number, head, window, span: pace.blocks() })
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
      await suspicion.compareHeads(node, seen.head.number)
      const relation = relate(from, seen.head, seen.at)
      if (relation !== 'linked') {
        const ancestor = await suspicion.ancestorIn(node, seen.head, relation === 'behind', lead)
        return { kind: 'forked', ancestor, head: seen.head, rpc: node.name }
      }
      head = seen.head.number
      const next = planFrom(from)
      if (next.kind === 'wait') return { kind: 'wait', head: seen.head }
      const doubt = (headers: readonly Header[]) => suspicion.doubt(node, headers)
      const near = () => readBlocks(node, watch, from, next.to, seen.head, doubt)
      const stretch = await (next.kind === 'finished' ? readFinished(node, watch, from, next.to, window) : near())
      learn(node, stretch)
      return { kind: 'stretch', stretch, rpc: node.name }
    })

  return {
    /** The next stretch after our position; the one after that is asked for meanwhile while catching up. Throws RpcError, NoNodeError. */
    async next(lead: Lead): Promise<Reading> {
      const from = lead.cursor.scanned
      const next = planFrom(from)
      const reading = await (ahead.take(from) ??
        (next.kind === 'finished' && from.hash !== null ? finished(from, next.to) : nearHead(lead)))
      const last = reading.kind === 'stretch' ? reading.stretch.blocks.at(-1) : undefined
      const after = last && planFrom(last)
      if (last && after?.kind === 'finished') ahead.put(last, finished(last, after.to))
      return reading
    },
    /** Forgets what was read ahead and believed of the head: the next reading looks first. */
    restart() {
      ahead.drop()
      head = -1
    },
    /** Asks for less from now on; false when even one block was too much. */
    shrink(error: RpcError): boolean {
      ahead.drop()
      return pace.shrink(error)
    },
    /** Takes note of an answer that was asked for elsewhere, with `span()`. */
    grow: pace.grow,
    head: () => head,
    span: pace.blocks,
  }
}
export type Reader = ReturnType<typeof createReading>
