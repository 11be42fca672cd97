import { type Reactions, RetryableError } from '@ponte/service-kit'
import type { Arrivals } from './arrival'
import type { Charges } from './charge'
import { cancel, supersede } from './order'
import type { Store } from './store'

export interface ReactionDeps {
  store: Store
  now: () => Date
  arrivals: Arrivals
  charges: Charges
  /** Called when the confirmed chain moved, so that expiry looks at once. */
  chainMoved(): void
  /** Tells live pages that an order looks different. */
  announce(order: { id: string; merchantId: string }): void
}

/** Confirmations are told for this many orders at once; pages of the others ask by themselves. */
const ANNOUNCED_MAX = 500
/** A charge that has not come by then never will: it was refused for good. */
const CHARGE_WAIT_MS = 600_000

/** What orders does when others speak: find, decide, commit. */
export function reactions({ store, now, arrivals, charges, chainMoved, announce }: ReactionDeps): Reactions {
  /** An order that is not wanted any more before it was ever opened. */
  const giveUp = async (orderId: string, event: { id: string; occurred_at: string }): Promise<void> => {
    if (await store.dropWaiting(orderId, event.id)) return
    // Its charge was published before; it is still on its way to us.
    if (now().getTime() - Date.parse(event.occurred_at) < CHARGE_WAIT_MS) {
      throw new RetryableError(`The charge of order ${orderId} has not come yet.`)
    }
  }

  return {
    'merchant.updated': event => store.saveMerchant(event.data, event.id),
    'payment.detected': ({ id, data }) => arrivals.arrive(data, 'detected', id),
    'payment.confirmed': ({ id, data }) => arrivals.arrive(data, 'confirmed', id),
    'payment.orphaned': ({ id, data }) => arrivals.arrive(data, 'orphaned', id),

    'sweep.confirmed': ({ id, data }) => store.recordSeen(data, id),
    'sweep.orphaned': ({ id, data }) => store.recordSeen(data, id),
    'deposit.synced': ({ id, data }) => store.recordSeen(data, id),
    'deposit.blocked': ({ id, data }) => store.recordSeen(data, id),

    async 'chain.advanced'({ id, data }) {
      await store.recordAdvance(data, id)
      chainMoved()
      for (const order of await store.confirming(data.chain_id, ANNOUNCED_MAX)) announce(order)
    },

    'subscription.charge_requested': ({ id, data }) => charges.requested(data, id),

    async 'subscription.cancelled'({ id, data, occurred_at }) {
      if (data.open_order_id === null) return
      const found = await store.find({ id: data.open_order_id })
      if (!found) return giveUp(data.open_order_id, { id, occurred_at })
      const { order, payments } = found
      const untouched = order.status === 'pending' && order.paidAt === null && payments.every(payment => payment.status === 'orphaned')
      const change = untouched ? cancel(order, payments, now()) : null
      if (change) await store.commit(change, { eventId: id })
    },

    async 'subscription.order_superseded'({ id, data, occurred_at }) {
      const found = await store.find({ id: data.order_id })
      if (!found) return giveUp(data.order_id, { id, occurred_at })
      const chainTime = await store.chainTime(found.order.chainId)
      await store.commit(supersede(found.order, found.payments, chainTime, now()), { eventId: id })
    },
  }
}
