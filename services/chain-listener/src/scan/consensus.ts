import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { Steps } from './apply'
import type { Stretch } from './fetch'
import type { Reader, Reading } from './fetch-ahead'
import type { Votes } from './quorum'
import { UndecidedError } from './recovery'
import type { Head, Lead } from './session'

export interface AgreementOptions {
  store: Store
  nodes: Nodes
  steps: Steps
  votes: Votes
  reading: Reader
}

const BEFORE_GENESIS = { number: -1, hash: null, time: null }

/** What one node alone must not decide: it is done when enough nodes agree, and undone when they agree on something else. */
export function createAgreement({ store, nodes, steps, votes, reading }: AgreementOptions) {
  const backToConfirmed = async (at: Lead, head: Head) => {
    const { number } = at.cursor.confirmed
    const block = number < 0 ? BEFORE_GENESIS : at.remembered.find(remembered => remembered.number === number)
    if (!block) throw new Error(`block ${number} is not remembered, so the scan cannot go back to it`)
    reading.restart()
    await steps.goBack(at, block, head, 'outvoted')
  }
  return {
    /** A finished span confirms everything up to its end, so the nodes must agree on all that is not confirmed yet. */
    async onStretch(at: Lead, { blocks, payments }: Stretch, head: Head): Promise<boolean> {
      const { scanned, confirmed } = at.cursor
      const pending = confirmed.number < scanned.number ? await store.between(confirmed.number + 1, scanned.number) : []
      const outcome = await votes.onSpan(confirmed.number + 1, blocks.at(-1), [...pending, ...payments])
      if (outcome === 'ours') return true
      reading.restart()
      if (outcome === 'undecided') throw new UndecidedError('the RPC end points do not agree on a finished span')
      if (confirmed.number < scanned.number) await backToConfirmed(at, head)
      return false
    },
    /** Near the head detecting is one node's word, confirming is not. Answers whether it is worth going on at once. */
    async confirm(at: Lead, head: Head): Promise<boolean> {
      const next = steps.confirmable(at)
      if (!next) return false
      const outcome = await votes.onSpan(next.from, next.to, await store.between(next.from, next.to.number))
      if (outcome === 'ours') await steps.confirmUpTo(at, next.to, head)
      if (outcome === 'theirs') await backToConfirmed(at, head)
      return outcome !== 'undecided'
    },
    /** Goes back to where the node's chain leaves ours, unless that undoes confirmed blocks on its word alone. */
    async follow(at: Lead, fork: Extract<Reading, { kind: 'forked' }>): Promise<void> {
      if (!(await votes.onDeepFork(at, fork.ancestor)))
        return nodes.distrust(fork.rpc, 'outvoted', 'it alone shows a chain without blocks that are confirmed')
      reading.restart()
      await steps.goBack(at, fork.ancestor, fork.head, 'reorganisation')
    },
  }
}
