import type { ChainAudited } from '@ponte/contracts'
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

/** Sums of the listener are believed for so long: it sends them anew every minute, and a reorganisation may change what they cover. */
const AUDIT_MAX_AGE_MS = 600_000
/** What the listener published before its sums has arrived by then, or is missing. */
const ARRIVAL_MS = 60_000

interface Audit extends ChainAudited {
  at: number
}

/** Compares orders with their payments, and what the listener confirmed with what is booked here: the newest at every turn and all of them bit by bit, over and over. What it finds is counted until it is gone. */
export function reconcileJob({ store, chainId, everyS, metrics, now, logger }: ReconcileOptions) {
  const found = new Map<string, Difference[]>()
  let audit: Audit | undefined
  let missing = 0
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
  /** An event of the listener that is still on its way is no difference yet. */
  const join = async () => {
    const age = audit ? now().getTime() - audit.at : Number.POSITIVE_INFINITY
    if (!audit || age > AUDIT_MAX_AGE_MS) {
      missing = 0
      return
    }
    const { sequence, spans } = audit
    if ((await store.chain.refresh(chainId)).watermark < sequence && age < ARRIVAL_MS) return
    const differing = await store.books.differing(chainId, spans)
    missing = differing.length
    for (const { from_block, to_block, count } of differing)
      logger.error('the listener confirmed other payments than are booked here; npm run reconcile names them', {
        from_block,
        to_block,
        count,
      })
  }
  const turn = async () => {
    await store.chain.forgetParked()
    await join()
    await look('newest')
    const ledgers = await look(after)
    after = ledgers.length < PAGE ? null : (ledgers.at(-1)?.order.id ?? null)
    finishedAt = now()
  }
  metrics.observed(
    'ponte_reconcile_differences',
    'Orders that are not what their payments make of them, and spans of blocks in which the listener confirmed other payments than are booked',
    () => found.size + missing,
  )
  metrics.observed('ponte_reconcile_last_run_timestamp_seconds', 'When orders were last compared with their payments', () =>
    finishedAt ? finishedAt.getTime() / 1_000 : Number.NaN,
  )
  const part = every('reconcile', everyS * 1_000, turn, logger)
  return {
    part,
    /** What the listener has confirmed in its newest blocks; compared at the next turn, and again until newer sums come. */
    audited(data: ChainAudited): void {
      if (data.chain_id === chainId) audit = { ...data, at: now().getTime() }
    },
  }
}
