import type { Logger } from '@ponte/service-kit'
import type { Block } from '../logs/block'
import type { Watch } from '../logs/filter'
import type { SeenPayment } from '../logs/payment-received'
import { type Deposit, type SeenTransfer, toDeposits } from '../logs/transfer'
import type { Nodes } from '../rpc/pool'
import { fetchRange } from './fetch'
import { findAncestor } from './fork'
import type { ScanSession } from './session'

/** The deposit addresses among the recipients of some transfers. */
export type FindDeposits = (transfers: readonly SeenTransfer[]) => Promise<ReadonlyMap<string, Deposit>>

export interface VotesOptions {
  nodes: Nodes
  watch: Watch
  /** The addresses that the scan holds transfers against. */
  findDeposits: FindDeposits
  quorum: number
  logger: Logger
  undecided(): void
}

/** `ours` when enough nodes see what we saw, `theirs` when enough agree on something else, `undecided` when neither. */
export type Outcome = 'ours' | 'theirs' | 'undecided'

/** Asks several nodes before anything is believed that one node alone must not decide. */
export function createVotes({ nodes, watch, findDeposits, quorum, logger, undecided }: VotesOptions) {
  return {
    /** Whether enough nodes have the same payments in these blocks. Who contradicts them is left alone for a while. */
    async onRange(
      from: number,
      to: Block | undefined,
      payments: readonly SeenPayment[],
      as: { watch: Watch; findDeposits: FindDeposits } = { watch, findDeposits },
    ): Promise<Outcome> {
      if (quorum <= 1 || !to) return 'ours'
      const ours = digest(to.hash, payments)
      const votes = await nodes.ballot(
        async node => {
          const { last, payments, transfers } = await fetchRange(node, as.watch, from, to.number)
          return digest(last.hash, [...payments, ...toDeposits(transfers, await as.findDeposits(transfers))])
        },
        values => tally(values, quorum) !== undefined,
      )
      const winner = tally(
        votes.map(vote => vote.value),
        quorum,
      )
      if (winner === undefined) {
        undecided()
        logger.warn('the RPC end points do not agree; nothing is confirmed meanwhile', {
          from,
          to: to.number,
          answers: votes.length,
          quorum,
        })
        return 'undecided'
      }
      for (const vote of votes.filter(({ value }) => value !== winner))
        nodes.distrust(vote.node.name, 'outvoted', `it has other payments or blocks in ${from} to ${to.number} than ${quorum} others`)
      return winner === ours ? 'ours' : 'theirs'
    },

    /** Whether a reorganisation that undoes confirmed blocks may be followed: enough nodes show it, or none contradicts where one suffices. */
    async onDeepFork(session: ScanSession, ancestor: Block): Promise<boolean> {
      const confirmed = session.cursor.confirmed.number
      if (ancestor.number >= confirmed) return true
      const votes = await nodes.ballot(
        async node => ((await findAncestor(node, session.remembered))?.number ?? -1) < confirmed,
        () => false,
      )
      const agree = votes.filter(({ value }) => value).length
      return quorum > 1 ? agree >= quorum : agree === votes.length
    },
  }
}
export type Votes = ReturnType<typeof createVotes>

/** A majority of the end points from three on; with one or two a disagreement cannot be settled, and one suffices. */
export const quorumOf = (urls: number, configured: number | undefined) =>
  Math.min(urls, configured ?? (urls >= 3 ? Math.floor(urls / 2) + 1 : 1))

/** The same text for the same payments up to the same block, whichever node read them in whatever order. */
export function digest(lastHash: string, payments: readonly SeenPayment[]): string {
  const lines = payments.map(p =>
    [p.blockNumber, p.logIndex, p.blockHash, p.txHash, p.kind, p.router, p.memo, p.merchant, p.payer, p.amount, p.deposit].join(' '),
  )
  return [lastHash, ...lines.sort()].join('\n')
}

/** The answer that at least `quorum` gave; a quorum of half or less takes the most frequent one. */
export function tally(answers: readonly string[], quorum: number): string | undefined {
  const counts = new Map<string, number>()
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const [best] = [...counts].sort(([, a], [, b]) => b - a)
  return best && best[1] >= quorum ? best[0] : undefined
}
