import type { Block } from '../../logs/block'
import type { Watch } from '../../logs/filter'
import { fetchHead, fetchHeader, type Header } from '../../proof/header'
import type { ProvenLogs } from '../../proof/prover'
import { RpcError } from '../../rpc/error'
import type { Node } from '../../rpc/node'
import { DistrustError, type Nodes } from '../../rpc/pool'
import { type EmptyLogs, logsMatchBloom } from '../fetch'
import type { ScanSession } from '../session'
import { findAncestor } from './fork'
import { reachedBy } from './reach'

export interface NodeChecksOptions {
  nodes: Nodes
  watch: Watch
  quorum: number
  /** Proven content of blocks, by number. */
  prove(headers: readonly Header[]): Promise<ReadonlyMap<number, ProvenLogs>>
}

/** Heads are compared so often; a node is late whose head lies below what enough of them had shown before. */
const COMPARED_EVERY_MS = 3_000
const DOUBTS_MAX = 1_000

/** When a node near the head is not to be believed as it stands. Each of these throws what follows from it. */
export function createNodeChecks({ nodes, watch, quorum, prove }: NodeChecksOptions) {
  let comparedAt = performance.now()
  /** Height that enough nodes had reached when they were last compared. */
  let reached: number | undefined
  const settled = new Set<string>()
  let doubted = new Set<string>()

  const demandGenesis = async (node: Node, ours: string) => {
    const theirs = await fetchHeader(node, { ...watch, header: null }, 0)
    if (theirs.hash !== ours) throw new DistrustError('foreign_chain', `the node's block 0 is ${theirs.hash}, ours was ${ours}`)
  }
  return {
    /** The node's chain is not ours, or shorter: the last block we have in common. */
    async ancestorIn(node: Node, theirs: Block, behind: boolean, { remembered, cursor }: ScanSession): Promise<Block> {
      const lowest = remembered.at(-1)
      const below = lowest !== undefined && theirs.number < lowest.number
      if (below && cursor.genesisHash !== null) await demandGenesis(node, cursor.genesisHash)
      if (behind || below) throw new DistrustError('behind', `the node's head is ${theirs.number}, behind ours`)
      const { ancestor, hasOthers } = await findAncestor(node, watch, remembered)
      // Behind one address another server may have answered, which is further behind.
      if (!ancestor && !hasOthers) throw new DistrustError('behind', `the node shows none of the last ${remembered.length} blocks we read`)
      if (!ancestor) throw new DistrustError('foreign_chain', `the node knows none of the last ${remembered.length} blocks we read`)
      if (ancestor.number === theirs.number) throw new DistrustError('behind', `the node's head is ${theirs.number}, behind ours`)
      return ancestor
    },

    /**
     * These blocks may well have logs that the node does not show; but a bloom also admits blocks without them. Their receipts settle it, or another
     * node; without either the same node is asked once more at the next turn, when logs that were late are there.
     */
    async verifyEmptyLogs(node: Node, empty: readonly EmptyLogs[]): Promise<void> {
      const open = empty.filter(({ header }) => !settled.has(header.hash))
      const proofs = await prove(open.map(({ header }) => header))
      if (settled.size > DOUBTS_MAX) settled.clear()
      for (const { header } of proofs.values()) settled.add(header.hash)
      const hidden = open.find(({ header, seen }) => {
        const proven = proofs.get(header.number)
        return proven && (proven.payments.length > seen.payments.length || proven.transfers.length > seen.transfers.length)
      })
      if (hidden) throw new DistrustError('wrong_answer', `the node shows no logs in block ${hidden.header.number}, its receipts do`)
      const headers = open.map(({ header }) => header).filter(({ number }) => !proofs.has(number))
      const fresh = headers.filter(({ hash }) => !doubted.has(hash))
      if (fresh.length === 0) return
      const others = await nodes.ballot(
        'blocks',
        async other => other.name !== node.name && (await logsMatchBloom(other, watch, fresh)),
        values => values.includes(true),
      )
      const numbers = fresh.map(({ number }) => number).join(', ')
      if (others.some(({ value }) => value))
        throw new DistrustError('wrong_answer', `the node shows no logs in block ${numbers}, others do`)
      doubted = new Set(headers.map(({ hash }) => hash))
      if (others.length <= 1) throw new RpcError('beyond_head', `the logs of block ${numbers} may be late`)
    },

    /** A head that does not move, or lies behind, is only suspicious beside nodes that show a higher one, and one alone can show any. */
    async compareHeads(ours: number): Promise<void> {
      if (performance.now() - comparedAt < COMPARED_EVERY_MS) return
      comparedAt = performance.now()
      const before = reached
      const heads = await nodes.ballot(
        'head',
        async other => (await fetchHead(other, watch, { number: -1, hash: null })).head.number,
        () => false,
      )
      for (const head of heads) nodes.sawHead(head.node.name, head.value)
      reached = reachedBy(
        heads.map(({ value }) => value),
        quorum,
      )
      if (before !== undefined && ours < before)
        throw new DistrustError('stalled', `the node's head is ${ours} while others had shown ${before}`)
    },
  }
}
