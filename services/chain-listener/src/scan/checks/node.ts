import type { Block } from '../../logs/block'
import type { Watch } from '../../logs/filter'
import { fetchHead, fetchHeader, type Header } from '../../proof/header'
import { RpcError } from '../../rpc/error'
import type { Node } from '../../rpc/node'
import { DistrustError, type Nodes } from '../../rpc/pool'
import { logsMatchBloom } from '../fetch'
import type { ScanSession } from '../session'
import { findAncestor } from './fork'

export interface NodeChecksOptions {
  nodes: Nodes
  watch: Watch
  window: number
  stallMs: number
}

/** When a node near the head is not to be believed as it stands. Each of these throws what follows from it. */
export function createNodeChecks({ nodes, watch, window, stallMs }: NodeChecksOptions) {
  let comparedAt = performance.now()
  let doubted = new Set<string>()

  const demandGenesis = async (node: Node, ours: string) => {
    const theirs = await fetchHeader(node, { ...watch, sealed: false }, 0)
    if (theirs.hash !== ours) throw new DistrustError('foreign_chain', `the node's block 0 is ${theirs.hash}, ours was ${ours}`)
  }
  return {
    /** The node's chain is not ours, or shorter: the last block we have in common. */
    async ancestorIn(node: Node, theirs: Block, behind: boolean, { remembered, cursor }: ScanSession): Promise<Block> {
      const lowest = remembered.at(-1)
      const below = lowest !== undefined && theirs.number < lowest.number
      if (below && cursor.genesisHash !== null) await demandGenesis(node, cursor.genesisHash)
      if (behind || below) throw new DistrustError('behind', `the node's head is ${theirs.number}, behind ours`)
      const ancestor = await findAncestor(node, watch, remembered)
      if (!ancestor) throw new DistrustError('foreign_chain', `the node knows none of the last ${remembered.length} blocks we read`)
      if (ancestor.number === theirs.number) throw new DistrustError('behind', `the node's head is ${theirs.number}, behind ours`)
      return ancestor
    },

    /**
     * These blocks may well have logs that the node does not show; but a bloom also admits blocks without them. Another node settles it;
     * without one the same node is asked once more at the next turn, when logs that were late are there.
     */
    async verifyEmptyLogs(node: Node, headers: readonly Header[]): Promise<void> {
      const fresh = headers.filter(({ hash }) => !doubted.has(hash))
      if (fresh.length === 0) return
      const others = await nodes.ballot(
        async other => other.name !== node.name && (await logsMatchBloom(other, watch, fresh)),
        values => values.includes(true),
      )
      const numbers = fresh.map(({ number }) => number).join(', ')
      if (others.some(({ value }) => value))
        throw new DistrustError('wrong_answer', `the node shows no logs in block ${numbers}, others do`)
      doubted = new Set(headers.map(({ hash }) => hash))
      if (others.length <= 1) throw new RpcError('beyond_head', `the logs of block ${numbers} may be late`)
    },

    /** A head that does not move, or lies far behind, is only suspicious beside a node that shows a higher one. */
    async compareHeads(node: Node, ours: number): Promise<void> {
      const since = performance.now() - comparedAt
      if (since < stallMs && !(nodes.standsStill(node.name) && since > stallMs / 4)) return
      comparedAt = performance.now()
      const heads = await nodes.ballot(
        async other => (await fetchHead(other, watch, { number: -1, hash: null })).head.number,
        () => false,
      )
      for (const head of heads) nodes.sawHead(head.node.name, head.value)
      const highest = Math.max(ours, ...heads.map(head => head.value))
      const tolerated = nodes.standsStill(node.name) ? 0 : window
      if (highest > ours + tolerated) throw new DistrustError('stalled', `the node's head is ${ours} while another shows ${highest}`)
    },
  }
}
