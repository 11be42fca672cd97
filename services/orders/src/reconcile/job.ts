import { every, type Logger, type Metrics } from '@ponte/service-kit'
import type { Store } from '../store'
import { type Difference, differencesOf } from './compare'

export interface ReconcileOptions {
  store: Store
  chainId: number
  everyS: number
  metrics: Metrics
  now: () => Date
  logger: Logger
}

/** Orders of the history looked at in one turn, and as many of the newest. */
const PAGE = 500

/** Compares orders with their payments: the newest at every turn and all of them bit by bit, over and over. What it finds is counted until it is gone. */
export function reconcileJob({ store, chainId, everyS, metrics, now, logger }: ReconcileOptions) {
  const found = new Map<string, Difference[]>()
  let after: string | null = null
  let finishedAt: Date | undefined

  const look = async (from: string | null | 'newest') => {
    const ledgers = await store.orders.page(from, PAGE)
    for (const ledger of ledgers) {
      const differences = differencesOf(ledger, store.chain.view(chainId))
      found.delete(ledger.order.id)
      if (differences.length > 0) found.set(ledger.order.id, differences)
      for (const { orderId, kind, detail } of differences)
        logger.error('an order is not what its payments make of it', { order_id: orderId, kind, detail })
    }
    return ledgers
  }
  const turn = async () => {
    await look('newest')
    const ledgers = await look(after)
    after = ledgers.length < PAGE ? null : (ledgers.at(-1)?.order.id ?? null)
    finishedAt = now()
  }
  metrics.observed('ponte_reconcile_differences', 'Orders that are not what their payments make of them', () => found.size)
  metrics.observed('ponte_reconcile_last_run_timestamp_seconds', 'When orders were last compared with their payments', () =>
    finishedAt ? finishedAt.getTime() / 1_000 : Number.NaN,
  )
  return every('reconcile', everyS * 1_000, turn, logger)
}
