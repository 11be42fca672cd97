import type { Block } from '../../logs/block'
import type { HeaderRules } from '../../logs/header-rules'
import { blockCall, strictly, toHeader } from '../../proof/header'
import type { Node } from '../../rpc/node'

/**
 * The highest of our blocks that the node has too, or undefined when it has none of them.
 * `theirs` holds the node's hash per number, undefined where it has no block.
 */
export function commonAncestor(ours: readonly Block[], theirs: ReadonlyMap<number, string | undefined>): Block | undefined {
  return ours.filter(block => theirs.get(block.number) === block.hash).reduce<Block | undefined>(higher, undefined)
}

const higher = (best: Block | undefined, block: Block) => (best === undefined || block.number > best.number ? block : best)

const WALK_AT_ONCE = 64

/** The highest of our remembered blocks (highest first) that the node has too; without one, whether it has others in their places, or none at all. */
export const findAncestor = (
  node: Node,
  rules: HeaderRules,
  remembered: readonly Block[],
): Promise<{ ancestor: Block | undefined; hasOthers: boolean }> =>
  strictly(async () => {
    let hasOthers = false
    for (let start = 0; start < remembered.length; start += WALK_AT_ONCE) {
      const ours = remembered.slice(start, start + WALK_AT_ONCE)
      const { results } = await node.ask(ours.map(({ number }) => blockCall(number)))
      const theirs = new Map(ours.map(({ number }, index) => [number, toHeader(results[index], rules)?.hash]))
      const ancestor = commonAncestor(ours, theirs)
      if (ancestor) return { ancestor, hasOthers }
      hasOthers ||= [...theirs.values()].some(hash => hash !== undefined)
    }
    return { ancestor: undefined, hasOthers }
  })
