import type { Logger } from '@ponte/service-kit'
import type { Watch } from '../logs/filter'
import { ContradictionError } from '../payment'
import { RpcError } from '../rpc/error'
import { type Nodes, NoNodeError, type Question } from '../rpc/pool'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import { UndecidedError } from './checks/reach'
import { ForkedError } from './fetch'
import type { FetchAhead } from './fetch-ahead'

const REFUSALS_UNTIL_DISTRUST = 3

/** None of the nodes knows any of the blocks that we remember: the chain we followed is gone, or the settings name another one. */
export class VanishedError extends Error {
  override name = 'VanishedError'
}

export interface RecoveryOptions {
  nodes: Nodes
  reading: FetchAhead
  leader: Leader
  watch: Watch
  logger: Logger
}

interface Next {
  more: boolean
  reload: boolean
  halt?: Error
  /** To be logged by the loop, which tries again. */
  unknown?: boolean
}

/** Decides about the next turn after a failed one. */
export function createRecovery({ nodes, reading, leader, watch, logger }: RecoveryOptions) {
  let refusals = 0
  const distrustInUse = (
    reason: 'too_wide' | 'behind' | 'wrong_answer',
    message: string,
    of: readonly (Question | undefined)[] = [undefined],
  ) => {
    const inUse = nodes.view().find(node => node.in_use)
    if (inUse) for (const question of of) nodes.distrust(inUse.name, reason, message, question)
  }
  return {
    succeeded() {
      refusals = 0
    },
    recover(error: unknown): Next {
      if (error instanceof RpcError && error.kind === 'too_wide') {
        reading.restart()
        distrustInUse('too_wide', error.message, ['blocks', 'logs'])
        return { more: false, reload: false }
      }
      if (error instanceof RpcError && error.kind === 'beyond_head') {
        reading.restart()
        if (++refusals >= REFUSALS_UNTIL_DISTRUST) distrustInUse('behind', error.message)
        return { more: false, reload: false }
      }
      reading.restart()
      if (error instanceof UndecidedError) return { more: false, reload: false }
      if (error instanceof ForkedError) {
        // A look shows where the chains part; a node that shows no fork then, again and again, answers from two chains at once.
        if (++refusals >= REFUSALS_UNTIL_DISTRUST) distrustInUse('wrong_answer', error.message)
        return { more: refusals < REFUSALS_UNTIL_DISTRUST, reload: false }
      }
      if (error instanceof ContradictionError) {
        distrustInUse('wrong_answer', error.message)
        return { more: true, reload: true }
      }
      if (error instanceof LeaseLostError) {
        leader.resign(error.message)
        return { more: false, reload: true }
      }
      if (!(error instanceof NoNodeError)) return { more: false, reload: true, unknown: true }
      if (nodes.view().some(node => node.resting !== 'foreign_chain')) return { more: false, reload: false }
      const halt = new VanishedError(
        `Chain ${watch.chainId} does not contain the blocks that were read before: the RPC end points serve another chain, or this one was ` +
          'begun anew. Nothing is skipped. Point RPC_URLS to the chain of this database, or give the listener an empty database.',
      )
      logger.error('the scan stops', { error: halt })
      return { more: false, reload: true, halt }
    },
  }
}
