import { isStale, type Message } from '@ponte/service-kit'
import { z } from 'zod'
import { type ChainView, review } from '../order'
import type { Due, Store } from '../store'

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

const OF_LISTENER = /^(payment|sweep|deposit)\./
/** What is needed of an event that cannot be handled; its data may break its schema. */
const numbered = z.object({
  id: z.uuid(),
  data: z.object({ chain_id: z.int(), sequence: z.int().min(1), memo: z.string().optional() }),
})

/** Events that count in the listener's sequence: expiry of all orders waits for one that is missing. */
export const isOfListener = (type: string): boolean => OF_LISTENER.test(type)

/**
 * An event of the listener goes to the dead letters: from now on expiry waits for it only where it may have paid the order. An address whose
 * `deposit.synced` is parked stays unsynced, and its order waits by that. One whose number cannot be read holds up all, until it is retried.
 */
export async function park(store: Store, { type, body }: Message): Promise<void> {
  if (!isOfListener(type)) return
  const event = numbered.safeParse(parsed(body))
  if (!event.success) return
  const { id, data } = event.data
  const memo = type.startsWith('payment.') ? (data.memo ?? null) : null
  await store.chain.park({ event_id: id, chain_id: data.chain_id, sequence: data.sequence, memo })
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
