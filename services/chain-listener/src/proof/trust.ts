import type { Logger, Metrics } from '@ponte/service-kit'
import type { ProofMode } from './prover'

/** On whose word payments are confirmed. */
export interface TrustView {
  end_points: number
  quorum: number
  /** True while the word of a single end point suffices. */
  one_node_is_trusted: boolean
  proof: ProofMode
  /** Why the last proof could not be had; null while all could. */
  unproven: string | null
}

export interface TrustOptions {
  mode: ProofMode
  urls: number
  quorum: number
  metrics: Metrics
  logger: Logger
}

/** How nodes are believed: logged at the start, and shown in the status. */
export function createTrust({ mode, urls, quorum, metrics, logger }: TrustOptions) {
  const counter = metrics.counter(
    'ponte_chain_unproven_total',
    'Proofs of blocks that could not be had, so that nodes were voted on instead',
  )
  let unproven: string | null = null
  if (quorum === 1)
    logger.warn('one RPC end point is trusted: what it shows is confirmed unless its own proofs refute it', {
      end_points: urls,
      proof: mode,
    })
  return {
    unproven(reason: string): void {
      counter.inc()
      if (unproven !== reason) logger.warn('a block cannot be proven', { reason, proof: mode })
      unproven = reason
    },
    view: (): TrustView => ({ end_points: urls, quorum, one_node_is_trusted: quorum === 1, proof: mode, unproven }),
  }
}
