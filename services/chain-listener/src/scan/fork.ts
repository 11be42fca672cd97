import type { Block } from '../logs/block'

/**
 * The highest of our blocks that the node has too, or undefined when it has none of them.
 * `theirs` holds the node's hash per number, undefined where it has no block.
 */
export function commonAncestor(ours: readonly Block[], theirs: ReadonlyMap<number, string | undefined>): Block | undefined {
  return ours.filter(block => theirs.get(block.number) === block.hash).reduce<Block | undefined>(higher, undefined)
}

const higher = (best: Block | undefined, block: Block) => (best === undefined || block.number > best.number ? block : best)
