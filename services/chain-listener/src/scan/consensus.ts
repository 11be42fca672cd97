import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { Steps } from './apply'
import type { Votes } from './checks/quorum'
import { type Reach, UndecidedError } from './checks/reach'
import type { BlockBatch } from './fetch'
import type { FetchAhead, Reading } from './fetch-ahead'
import type { Head, ScanSession } from './session'

export interface ConsensusOptions {
  store: Store
  nodes: Nodes
  steps: Steps
  votes: Votes
  reach: Reach
  reading: FetchAhead
}

const BEFORE_GENESIS = { number: -1, hash: null, time: null }

/** What one node alone must not decide: it is done when enough nodes agree, and undone when they agree on something else. */
export function createConsensus({ store, nodes, steps, votes, reach, reading }: ConsensusOptions) {
  const backToConfirmed = async (at: ScanSession, head: Head) => {
    const { number } = at.cursor.confirmed
    const block = number < 0 ? BEFORE_GENESIS : at.remembered.find(remembered => remembered.number === number)
    if (!block) throw new Error(`block ${number} is not remembered, so the scan cannot go back to it`)
    reading.restart()
    await steps.rollbackTo(at, block, head, 'outvoted')
  }
  return {
    /** A finalized range confirms everything up to its end, so the nodes must agree on all that is not confirmed yet. */
    async onFinalized(at: ScanSession, { blocks, payments }: Pick<BlockBatch, 'blocks' | 'payments'>, head: Head): Promise<boolean> {
      const { scanned, confirmed } = at.cursor
      const pending = confirmed.number < scanned.number ? await store.payments.between(confirmed.number + 1, scanned.number) : []
      const outcome = await votes.onRange(confirmed.number + 1, blocks.at(-1), [...pending, ...payments])
      if (outcome === 'ours') return true
      reading.restart()
      if (outcome === 'undecided') throw new UndecidedError('the RPC end points do not agree on a finalized range')
      if (confirmed.number < scanned.number) await backToConfirmed(at, head)
      return false
    },
    /** Near the head, where one node is trusted alone: what it shows is held against what it can prove before it is applied. */
    async demandProven({ blocks, payments, count }: Pick<BlockBatch, 'blocks' | 'payments' | 'count'>): Promise<void> {
      const last = blocks.at(-1)
      if (!last || (await votes.onRange(last.number - count + 1, last, payments)) === 'ours') return
      reading.restart()
      throw new UndecidedError(`what the RPC end point shows up to block ${last.number} is not what it can prove`)
    },
    /** Near the head detecting is one node's word, confirming is not. Answers whether it is worth going on at once. */
    async confirm(at: ScanSession, head: Head): Promise<boolean> {
      if (!steps.confirmable(at)) return false
      const reached = await reach(at.cursor.scanned.number, steps.neededHead(at))
      const next = reached === undefined ? undefined : steps.confirmable(at, reached)
      if (!next) return false
      const outcome = await votes.onRange(next.from, next.to, await store.payments.between(next.from, next.to.number))
      if (outcome === 'ours') await steps.confirmUpTo(at, next.to, head)
      if (outcome === 'theirs') await backToConfirmed(at, head)
      return outcome !== 'undecided'
    },
    /** Goes back to where the node's chain leaves ours, unless that undoes confirmed blocks on its word alone. */
    async follow(at: ScanSession, fork: Extract<Reading, { kind: 'forked' }>): Promise<void> {
      if (!(await votes.onDeepFork(at, fork.ancestor)))
        return nodes.distrust(fork.rpc, 'outvoted', 'it alone shows a chain without blocks that are confirmed')
      reading.restart()
      await steps.rollbackTo(at, fork.ancestor, fork.head, 'reorganisation')
    },
  }
}
