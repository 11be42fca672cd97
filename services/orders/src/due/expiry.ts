import { isStale, isTransient, type Logger, type Message } from '@ponte/service-kit'
import { z } from 'zod'
import { review } from '../order/order'
import type { Due, Store } from '../store'

const PAGE = 100
const AT_ONCE = 4

/**
 * Expires what the confirmed chain time has passed (invariant 4). Safe with any number of replicas: the order's version lets one of them
 * win, and the other finds nothing left to do.
 */
export async function expireDue(store: Store, chainIds: readonly number[], now: () => Date, logger: Logger): Promise<void> {
  for (const chainId of chainIds) await store.chain.refresh(chainId)
  for (const chainId of chainIds) await expireOf(store, chainId, now, logger)
}

async function expireOf(store: Store, chainId: number, now: () => Date, logger: Logger): Promise<void> {
  const chain = store.chain.view(chainId)
  if (chain.time === null) return
  let after: Due | null = null
  for (;;) {
    const page: Due[] = await store.orders.due(chainId, chain, after, PAGE)
    for (let first = 0; first < page.length; first += AT_ONCE) {
      await Promise.all(page.slice(first, first + AT_ONCE).map(({ id }) => expireOne(store, id, now(), logger)))
    }
    after = page.at(-1) ?? null
    if (page.length < PAGE) return
  }
}

/** One that cannot be judged is in the way of no other. */
async function expireOne(store: Store, id: string, at: Date, logger: Logger): Promise<void> {
  try {
    const found = await store.orders.find(id)
    if (!found) return
    const change = review(found, store.chain.viewOf(found.order), at)
    if (change.order.status === found.order.status && change.events.length === 0) return
    await store.orders.commit(change, {})
  } catch (error) {
    if (isTransient(error)) throw error
    if (!isStale(error)) logger.error('an order cannot be judged, and does not expire', { order_id: id, error })
  }
}

/** Needed of an event that cannot be handled; the rest of its data may break its schema. */
const parkable = z.object({
  id: z.uuid(),
  data: z.object({
    chain_id: z.int(),
    generation: z.uuid(),
    lease: z.uuid(),
    version: z.int(),
    earlier: z.array(z.object({ lease: z.uuid(), version: z.int() })),
    advanced: z.object({ from: z.int(), to: z.int(), time: z.iso.datetime() }).nullable(),
    payments: z.array(z.object({ memo: z.string() })),
    watched: z.array(z.object({ order_id: z.uuid(), through: z.int() })),
  }),
})

/**
 * Blocks of the listener go to the dead letters: from now on expiry waits for them only where they may have paid an order, or take back that it is watched.
 * An order that they name as watched stays unwatched, and waits by that. Blocks whose range or lease cannot be read hold up all, until they are retried.
 */
export async function park(store: Store, { type, body }: Message): Promise<void> {
  if (type !== 'chain.blocks') return
  const event = parkable.safeParse(parsed(body))
  if (!event.success) return
  const { payments, watched, ...step } = event.data.data
  const memos = [...new Set(payments.map(({ memo }) => memo))]
  const unwatchedIds = watched.filter(({ through }) => through < 0).map(({ order_id }) => order_id)
  await store.chain.park({ ...step, eventId: event.data.id, memos, unwatchedIds })
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
