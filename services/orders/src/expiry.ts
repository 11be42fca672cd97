import { isStale } from '@ponte/service-kit'
import { type ChainView, review } from './order'
import type { Due, Store } from './store'

const PAGE = 100
const AT_ONCE = 4

/**
 * Expires what the confirmed chain time has passed (invariant 4). Safe with any number of replicas: the order's version lets one of them
 * win, and the other finds nothing left to do.
 */
export async function expireDue(store: Store, chainId: number, now: () => Date): Promise<void> {
  const chain = await store.chain.refresh(chainId)
  if (chain.time === null) return
  let after: Due | null = null
  for (;;) {
    const page: Due[] = await store.orders.due(chainId, chain, after, PAGE)
    for (let first = 0; first < page.length; first += AT_ONCE) {
      await Promise.all(page.slice(first, first + AT_ONCE).map(({ id }) => expireOne(store, id, chain, now())))
    }
    after = page.at(-1) ?? null
    if (page.length < PAGE) return
  }
}

async function expireOne(store: Store, id: string, chain: ChainView, at: Date): Promise<void> {
  const found = await store.orders.find({ id })
  if (!found) return
  const change = review(found, chain, at)
  if (change.order.status === found.order.status && change.events.length === 0) return
  try {
    await store.orders.commit(change, {})
  } catch (error) {
    if (!isStale(error)) throw error
  }
}
