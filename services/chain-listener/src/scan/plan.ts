/** What to read next. A finalized range lies deeper than any reorganisation we follow; blocks are read one by one, by hash. */
export type Plan = { kind: 'wait' } | { kind: 'finalized'; from: number; to: number } | { kind: 'blocks'; from: number; to: number }

/** Most blocks read one by one in one turn. */
const BLOCKS_AT_ONCE = 32

/** `reached`: the head that enough nodes have; one node alone makes nothing finalized. */
export function plan(at: { scanned: number; head: number; reached?: number; window: number; span: number }): Plan {
  const from = at.scanned + 1
  const finalized = Math.min(at.head, at.reached ?? at.head) - at.window
  if (finalized >= from) return { kind: 'finalized', from, to: Math.min(finalized, at.scanned + at.span) }
  if (at.head >= from) return { kind: 'blocks', from, to: Math.min(at.head, at.scanned + Math.min(at.span, BLOCKS_AT_ONCE)) }
  return { kind: 'wait' }
}

/**
 * The last block that counts as confirmed: a payment in the last scanned block has one confirmation, so with `confirmations` = 1 the scanned
 * block itself is confirmed. It never goes back by itself.
 */
export function confirmedLine(at: { scanned: number; confirmed: number; confirmations: number }): number {
  return Math.max(at.confirmed, at.scanned - at.confirmations + 1)
}

/** How many blocks to ask for at once. `ceiling` is what the node was last known to bear. */
export interface Span {
  blocks: number
  ceiling: number
}

const TARGET_BYTES = 2_000_000
const TARGET_MS = 1_500
const RECOVERY = 1.05

/**
 * After an answer: towards a size that takes a moment and little memory; the ceiling recovers slowly. Near the head few blocks are read at once,
 * and their size decides how many a range may have.
 */
export function afterAnswer(span: Span, answer: { count: number; bytes: number; ms: number }, max: number): Span {
  const factor = Math.min(2, Math.max(0.5, TARGET_MS / Math.max(answer.ms, 1)))
  const bearable = Math.ceil((answer.count * TARGET_BYTES) / Math.max(answer.bytes, 1))
  const wanted = Math.min(Math.ceil(span.blocks * factor), Math.max(bearable, Math.floor(span.blocks / 2)))
  const ceiling = Math.min(max, Math.ceil(span.ceiling * RECOVERY))
  return { blocks: Math.max(1, Math.min(wanted, ceiling)), ceiling }
}

/** After a node refused a range as too wide: what it suggested, or half. `undefined` when one block was already too much. */
export function afterTooWide(span: Span, asked: number, suggested?: number): Span | undefined {
  if (asked <= 1) return undefined
  const blocks = Math.max(1, suggested !== undefined && suggested < asked ? suggested : Math.floor(asked / 2))
  return { blocks, ceiling: Math.min(span.ceiling, blocks) }
}

/** How our position stands to what a node shows: its head, and its block at our height. */
export type Relation = 'linked' | 'behind' | 'forked' | 'unknown'

/** `unknown` means that the node's chain is shorter than ours, and only an older block can know whether it lags or is another chain. */
export function relate(
  position: { number: number; hash: string | null },
  head: { number: number },
  at: { hash: string } | undefined,
): Relation {
  if (position.hash === null) return head.number >= position.number ? 'linked' : 'behind'
  if (at) return at.hash === position.hash ? 'linked' : 'forked'
  return head.number >= position.number ? 'behind' : 'unknown'
}
