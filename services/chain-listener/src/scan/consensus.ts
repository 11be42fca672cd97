import type { TimedPayment } from '../payment'
import type { Nodes } from '../rpc/pool'
import type { Store } from '../store'
import type { Steps } from './apply'
import type { Judged, Votes } from './checks/quorum'
import { type Reach, UndecidedError } from './checks/reach'
import { linesOf } from './checks/tally'
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

/** A node alone must not decide this: it is done when enough nodes agree, and undone when they agree on something else. */
export function createConsensus({ store, nodes, steps, votes, reach, reading }: ConsensusOptions) {
  const backToConfirmed = async (at: ScanSession, head: Head) => {
    const { number } = at.cursor.confirmed
    const block = number < 0 ? BEFORE_GENESIS : at.remembered.find(remembered => remembered.number === number)
    if (!block) throw new Error(`block ${number} is not remembered, so the scan cannot go back to it`)
    await votes.restOutvoted(number + 1)
    reading.restart()
    await steps.rollbackTo(at, block, head, 'outvoted')
  }
  return {
    /**
     * A finalized range confirms everything up to its end, so it must be known of all that is not confirmed yet. Answers the payments of the range;
     * undefined when the scan has to read anew.
     */
    async onFinalized(at: ScanSession, batch: BlockBatch, judged: Promise<Judged> | undefined, head: Head) {
      const { scanned, confirmed } = at.cursor
      const isPending = confirmed.number < scanned.number
      const pending = isPending ? await store.payments.between(confirmed.number + 1, scanned.number) : []
      const { payments, verdict } = await (isPending || !judged ? votes.onFinalized(batch, pending, confirmed.number + 1) : judged)
      if (verdict.kind === 'ours') return payments
      reading.restart()
      if (verdict.kind === 'undecided') throw new UndecidedError('the RPC end points do not agree on a finalized range')
      const isBefore = ({ blockNumber }: TimedPayment) => blockNumber <= scanned.number
      const [before, after] = [verdict.payments?.filter(isBefore), verdict.payments?.filter(one => !isBefore(one))]
      if (before && linesOf(before) === linesOf(pending)) return after
      if (isPending) await backToConfirmed(at, head)
      return undefined
    },
    /** Near the head, where one node confirms at once: answers what is so of what it shows; undefined when the scan has to read anew. */
    async onAlone(batch: BlockBatch) {
      const { payments, verdict } = await votes.onFinalized(batch, [], undefined, { again: false })
      return verdict.kind === 'ours' ? payments : verdict.kind === 'theirs' ? verdict.payments : undefined
    },
    /** Near the head detecting is one node's word, confirming is not. Answers whether it is worth going on at once. */
    async confirm(at: ScanSession, head: Head): Promise<boolean> {
      if (!steps.confirmable(at)) return false
      const reached = await reach(at.cursor.scanned.number, steps.neededHead(at))
      const next = reached === undefined ? undefined : steps.confirmable(at, reached)
      if (!next) return false
      const { kind } = await votes.onRange(next.from, next.to, await store.payments.between(next.from, next.to.number))
      if (kind === 'ours') await steps.confirmUpTo(at, next.to, head)
      if (kind === 'theirs') await backToConfirmed(at, head)
      return kind !== 'undecided'
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
