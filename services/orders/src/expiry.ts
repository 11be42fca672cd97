import { isStale } from '@ponte/service-kit'
import { review } from './order'
import type { Store } from './store'

const PAGE = 100
const AT_ONCE = 4

/**
 * Expires what the confirmed chain time has passed (invariant 4). Safe with any number of replicas: the order's version lets one of them
 * win, and the other finds nothing left to do.
 */
export async function expireDue(store: Store, chainId: number, now: () => Date): Promise<void> {
  const chainTime = await store.confirmedTime(chainId)
  if (chainTime === null) return
  let after: { expiresAt: Date; id: string } | null = null
  for (;;) {
    const page: { id: string; expiresAt: Date }[] = await store.expiring(chainId, chainTime, after, PAGE)
    for (let first = 0; first < page.length; first += AT_ONCE) {
      await Promise.all(page.slice(first, first + AT_ONCE).map(({ id }) => expireOne(store, id, chainTime, now())))
    }
    after = page.at(-1) ?? null
    if (page.length < PAGE) return
  }
}

async function expireOne(store: Store, id: string, chainTime: Date, at: Date): Promise<void> {
  const found = await store.find({ id })
  if (!found) return
  const change = review(found.order, found.payments, chainTime, at)
  if (change.order.status === found.order.status && change.events.length === 0) return
  try {
    await store.commit(change, {})
  } catch (error) {
    if (!isStale(error)) throw error
  }
}
