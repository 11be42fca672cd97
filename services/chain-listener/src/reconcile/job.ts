import { every, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { ChainListenerConfig } from '../config'
import type { SeenPayment } from '../logs/payment-received'
import type { Payment } from '../payment'
import { RpcError } from '../rpc/error'
import type { Nodes } from '../rpc/pool'
import { readSpan } from '../scan/fetch'
import type { Store } from '../store'
import type { Leader } from '../store/leader'
import { compare, type Difference } from './compare'

export interface ReconcilingOptions {
  store: Store
  nodes: Nodes
  leader: Leader
  metrics: Metrics
  now: () => Date
  logger: Logger
}

/** Blocks of the history compared in one turn. */
export const SPAN_MAX = 5_000

/** What was compared: up to which block, what the books have there, and where they and the chain differ. */
export interface Comparison {
  confirmed: number
  to: number
  payments: Payment[]
  differences: Difference[]
}

export type Reconciling = ReturnType<typeof createReconciling>

/**
 * Holds the books against the chain, past the cursor that wrote them: the newest confirmed blocks at every turn, and the whole history bit by bit,
 * over and over. What it finds is counted until a later look finds it no more.
 */
export function createReconciling(config: ChainListenerConfig, { store, nodes, leader, metrics, now, logger }: ReconcilingOptions) {
  const watch = { chainId: config.CHAIN_ID, routers: config.ROUTER_ADDRESSES, token: config.TOKEN_ADDRESS, deposits: new Map() }
  const found = new Map<string, Difference>()
  let finishedAt: Date | undefined
  let next = config.START_BLOCK

  const readChain = async (from: number, to: number): Promise<SeenPayment[]> => {
    try {
      return (await nodes.use(node => readSpan(node, watch, from, to))).payments
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== 'too_wide' || from === to) throw error
      const middle = Math.floor((from + to) / 2)
      return [...(await readChain(from, middle)), ...(await readChain(middle + 1, to))]
    }
  }
  /** Nothing above what was confirmed before the chain is asked is judged. */
  const compareSpan = async (from: number, wantedTo: number): Promise<Comparison> => {
    const confirmed = Number((await store.row())?.confirmedNumber ?? -1)
    const to = Math.min(wantedTo, confirmed)
    if (from > to) return { confirmed, to, payments: [], differences: [] }
    const onChain = await readChain(from, to)
    const payments = await store.between(from, to)
    const differences = compare(
      onChain,
      payments.filter(({ deposit }) => deposit === null),
    )
    return { confirmed, to, payments, differences }
  }
  const look = async (from: number, to: number) => {
    const { differences } = await compareSpan(from, to)
    for (const [key, { blockNumber }] of found) if (blockNumber >= from && blockNumber <= to) found.delete(key)
    for (const difference of differences) {
      found.set(`${difference.kind} ${difference.txHash} ${difference.logIndex}`, difference)
      logger.error('the books and the chain differ', { ...difference })
    }
  }
  const turn = async () => {
    if (leader.epoch() === undefined) {
      found.clear()
      finishedAt = undefined
      return
    }
    const confirmed = Number((await store.row())?.confirmedNumber ?? -1)
    await look(Math.max(config.START_BLOCK, confirmed - config.RECONCILE_BLOCKS + 1), confirmed)
    if (next > confirmed) next = config.START_BLOCK
    const to = Math.min(confirmed, next + SPAN_MAX - 1)
    await look(next, to)
    next = to + 1
    finishedAt = now()
  }
  metrics.observed('ponte_reconcile_differences', 'Payments that the chain and the books do not agree on; only the leader looks', () =>
    finishedAt ? found.size : Number.NaN,
  )
  metrics.observed('ponte_reconcile_last_run_timestamp_seconds', 'When the books were last held against the chain', () =>
    finishedAt ? finishedAt.getTime() / 1_000 : Number.NaN,
  )

  const part: Part = every('reconciliation', config.RECONCILE_EVERY_S * 1_000, turn, logger)
  return { part, compareSpan }
}
