import { retryConflicts } from '@ponte/service-kit'
import { settle } from '../order/order'
import type { Store } from '../store'

const PAGE = 100

/**
 * Publishes `order.settled` for what has reached its merchant by sweeps after which a process ended too soon. Safe with any number of replicas: the
 * order's version lets one of them win. Resolves to whether there may be more.
 */
export async function publishSettled(store: Store, now: () => Date): Promise<boolean> {
  const ids = await store.orders.unsettled(PAGE)
  let published = 0
  for (const id of ids) if (await publishIfSettled(store, id, now)) published += 1
  return ids.length === PAGE && published > 0
}

/** Publishes `order.settled` once it is. Resolves to whether it did. */
export const publishIfSettled = (store: Store, id: string, now: () => Date): Promise<boolean> =>
  retryConflicts(async () => {
    const found = await store.orders.history(id)
    const change = found && settle(found, now())
    if (change) await store.orders.commit(change, {})
    return change !== null
  })
