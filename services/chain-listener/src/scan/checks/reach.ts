import type { Logger } from '@ponte/service-kit'
import type { HeaderRules } from '../../logs/header-rules'
import { fetchHead } from '../../proof/header'
import type { Nodes } from '../../rpc/pool'

/** Not enough nodes agree, so the turn changes nothing. */
export class UndecidedError extends Error {
  override name = 'UndecidedError'
}

export interface ReachOptions {
  nodes: Nodes
  rules: HeaderRules
  quorum: number
  /** The other nodes may be so many blocks behind before it is counted as a disagreement. */
  tolerated: number
  logger: Logger
  undecided(): void
}

export type Reach = ReturnType<typeof createReach>

const NOWHERE = { number: -1, hash: null }

/**
 * How far enough nodes have come, where several must agree: how deep a block lies is judged by that, because any node can show blocks above the head.
 * A node that does not answer is not waited for once `wanted` is reached. Undefined while too few answer.
 */
export function createReach({ nodes, rules, quorum, tolerated, logger, undecided }: ReachOptions) {
  // A node whose headers are refused has its vote on hashes, and so on how far the chain is.
  const lenient = { ...rules, header: null, latestTime: () => Number.POSITIVE_INFINITY }
  return async (scanned: number, wanted: number): Promise<number | undefined> => {
    if (quorum <= 1) return Number.POSITIVE_INFINITY
    const answers = await nodes.vote(
      'head',
      async node => (await fetchHead(node, lenient, NOWHERE)).head.number,
      heads => (reachedBy(heads, quorum) ?? -1) >= wanted,
    )
    const heads = answers.map(({ value }) => value)
    const reached = reachedBy(heads, quorum)
    if (reached === undefined || scanned - reached > tolerated) {
      undecided()
      logger.warn('the RPC end points do not agree; nothing is confirmed meanwhile', { scanned, heads, quorum })
    }
    return reached
  }
}

/** The highest block that at least `quorum` of these heads have reached. */
export const reachedBy = (heads: readonly number[], quorum: number): number | undefined => heads.toSorted((a, b) => b - a)[quorum - 1]
