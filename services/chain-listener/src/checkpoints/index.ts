import { every, type Logger } from '@ponte/service-kit'
import type { HeaderRules } from '../logs/header-rules'
import { agreedOn, lenient } from '../outcomes/agreement'
import { chainCall, demandChain, fetchHeader, strictly } from '../proof/header'
import type { Nodes } from '../rpc/pool'
import type { Leader } from '../store/leader'
import { LeaseLostError } from '../store/lease'
import type { CheckpointStore } from './store'

export { checkpointBody } from './body'
export { type CheckpointStore, checkpointStore } from './store'

export interface CheckpointsOptions {
  store: CheckpointStore
  leader: Leader
  nodes: Nodes
  rules: HeaderRules
  quorum: number
  token: string
  routers: readonly string[]
  /** Of one checkpoint. */
  blocks: number
  logger: Logger
}

const LOOK_MS = 5_000

/** The leader writes a checkpoint of what is confirmed as soon as its blocks are, and all that are due after an absence. */
export function createCheckpoints({ store, leader, nodes, quorum, token, routers, blocks, logger, ...options }: CheckpointsOptions) {
  const rules = lenient(options.rules)
  /** Of a confirmed block that is not remembered any more, as enough nodes have it; undefined while they do not agree. */
  const hashOf = async (number: number): Promise<string | undefined> => {
    const found = await agreedOn({ nodes, quorum }, [String(number)], async node => {
      const { hash } = await strictly(async () => {
        demandChain(rules, (await node.ask([chainCall])).results[0])
        return fetchHeader(node, rules, number)
      })
      return new Map([[String(number), hash]])
    })
    return found.get(String(number))
  }
  let wakeAt = 0
  const turn = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const epoch = leader.epoch()
      const next = epoch === undefined || signal.aborted ? undefined : await store.next(blocks, routers)
      if (epoch === undefined || !next) return
      const blockHash = next.blockHash ?? (await hashOf(next.to))
      if (blockHash === undefined) return logger.warn('too few nodes agree on the last block of a checkpoint; it waits', { block: next.to })
      await store.write(epoch, next, { blockHash, token, routers })
      logger.info('a checkpoint is written', { from: next.from, to: next.to })
    }
  }
  const loop = every(
    'checkpoints',
    LOOK_MS,
    signal =>
      turn(signal).catch(error => {
        if (!(error instanceof LeaseLostError)) throw error
      }),
    logger,
  )
  return {
    part: loop,
    confirmed(number: number): void {
      if (number < wakeAt) return
      wakeAt = (Math.floor(number / blocks) + 1) * blocks - 1
      loop.wake()
    },
  }
}
