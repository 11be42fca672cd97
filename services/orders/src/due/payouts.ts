import { isStale } from '@ponte/service-kit'
import { settle } from '../order'
import type { Store } from '../store'

const PAGE = 100

/**
 * Publishes `order.settled` for what has reached its merchant by sweeps since. Safe with any number of replicas: the order's version lets one
 * of them win. Resolves to whether there may be more.
 */
export async function publishSettled(store: Store, now: () => Date): Promise<boolean> {
  const ids = await store.orders.unsettled(PAGE)
  let published = 0
  for (const id of ids) {
    const found = await store.orders.history(id)
    const change = found && settle(found, now())
    if (!change) continue
    try {
      await store.orders.commit(change, {})
      published += 1
    } catch (error) {
      if (!isStale(error)) throw error
    }
  }
  return ids.length === PAGE && published > 0
}
