/** A finalized range lies deeper than any reorganisation we follow; blocks are read one by one, by hash. */
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

/** Our position beside a node's: its head, and its block at our height. */
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
