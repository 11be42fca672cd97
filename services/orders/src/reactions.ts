import type { ChainAudited, ChainSweep } from '@ponte/contracts'
import { type Logger, type Reactions, RetryableError } from '@ponte/service-kit'
import type { Charges } from './charges'
import type { Ingestion } from './ingestion'
import { supersede, withdraw } from './order'
import type { Store } from './store'

export interface ReactionDeps {
  store: Store
  now: () => Date
  ingestion: Ingestion
  charges: Charges
  /** Called when more of the chain is known, so that expiry looks at once. */
  chainMoved(): void
  /** Called when money was moved on to a merchant. */
  swept(): void
  /** Notifies live pages that an order looks different. */
  announce(order: { id: string; merchantId: string }): void
  logger: Logger
  /** Called when a chain time is not believed. */
  onQuarantined(): void
  /** Takes what the listener confirmed, to be compared with the books. */
  audited(sums: ChainAudited): void
}

/** Confirmations are announced for this many orders at once; pages of the others poll. */
const ANNOUNCED_MAX = 500
/** A charge that has not come by then never will: it was refused for good. */
const CHARGE_WAIT_MS = 600_000

/** What orders does about events of others: find, decide, commit. */
export function reactions(deps: ReactionDeps): Reactions {
  const { store, now, ingestion, charges, chainMoved, swept, announce, logger, onQuarantined, audited } = deps
  /** Withdraws the charge of an order that was never opened. */
  const withdrawCharge = async (orderId: string, event: { id: string; occurred_at: string }): Promise<void> => {
    if (await store.charges.withdraw(orderId, event.id)) return
    // Its charge was published before; it is still on its way to us.
    if (now().getTime() - Date.parse(event.occurred_at) < CHARGE_WAIT_MS) {
      throw new RetryableError(`The charge of order ${orderId} has not come yet.`)
    }
  }

  const announceMemo = async (memo: string): Promise<void> => {
    const owner = await store.orders.ownerOf(memo)
    if (owner) announce(owner)
  }

  const recordSweep = async (sweep: ChainSweep, status: 'confirmed' | 'orphaned', eventId: string): Promise<void> => {
    await store.deposits.recordSweep(sweep, status, eventId)
    swept()
    await announceMemo(sweep.memo)
  }

  return {
    'merchant.updated': event => store.merchants.save(event.data, event.id),
    'payment.detected': ({ id, data }) => ingestion.ingestPayment(data, 'detected', id),
    'payment.confirmed': ({ id, data }) => ingestion.ingestPayment(data, 'confirmed', id),
    'payment.orphaned': ({ id, data }) => ingestion.ingestPayment(data, 'orphaned', id),

    'sweep.confirmed': ({ id, data }) => recordSweep(data, 'confirmed', id),
    'sweep.orphaned': ({ id, data }) => recordSweep(data, 'orphaned', id),

    async 'deposit.synced'({ id, data }) {
      await store.deposits.markSynced(data, id)
      chainMoved()
    },

    async 'deposit.blocked'({ id, data }) {
      await store.deposits.markBlocked(data, id)
      await announceMemo(data.memo)
    },

    async 'authorization.changed'({ id, data }) {
      await store.authorizations.record(data, id)
      const found = await store.orders.find({ id: data.order_id })
      if (found) announce(found.order)
    },

    async 'chain.advanced'({ id, data }) {
      if (store.chain.liesAhead(data)) {
        logger.error('the listener reports a confirmed time that lies ahead of our clock; it is not believed', { ...data })
        onQuarantined()
        return store.chain.ignore(id)
      }
      await store.chain.recordAdvance(data, id)
      chainMoved()
      for (const order of await store.orders.confirming(data.chain_id, ANNOUNCED_MAX)) announce(order)
    },

    async 'chain.audited'({ id, data }) {
      audited(data)
      await store.chain.ignore(id)
    },

    'subscription.charge_requested': ({ id, data }) => charges.requested(data, id),

    async 'subscription.cancelled'({ id, data, occurred_at }) {
      if (data.open_order_id === null) return
      const found = await store.orders.find({ id: data.open_order_id })
      if (!found) return withdrawCharge(data.open_order_id, { id, occurred_at })
      const change = withdraw(found, now())
      if (change) await store.orders.commit(change, { eventId: id })
    },

    async 'subscription.order_superseded'({ id, data, occurred_at }) {
      const found = await store.orders.find({ id: data.order_id })
      if (!found) return withdrawCharge(data.order_id, { id, occurred_at })
      await store.orders.commit(supersede(found, store.chain.view(found.order.chainId), now()), { eventId: id })
    },
  }
}
