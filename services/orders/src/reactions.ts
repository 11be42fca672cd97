import { CENT, type ChainAudited, type ChainSweep, parseUsdc, type SubscriptionClosed } from '@ponte/contracts'
import { type Logger, type Reactions, retryConflicts } from '@ponte/service-kit'
import type { Charges } from './charges'
import { publishIfSettled } from './due'
import type { Ingestion } from './ingestion'
import { type Change, type Ledger, release, supersede } from './order'
import type { ChargeOwner, Store } from './store'

export interface ReactionDeps {
  store: Store
  now: () => Date
  ingestion: Ingestion
  charges: Charges
  /** Called when more of the chain is known, so that expiry looks at once. */
  chainMoved(): void
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

/** What orders does about events of others: find, decide, commit. */
export function reactions(deps: ReactionDeps): Reactions {
  const { store, now, ingestion, charges, chainMoved, announce, logger, onQuarantined, audited } = deps
  /**
   * Closes an order that is no longer wanted. One that was never opened leaves a tombstone, because its charge may still come: the key of outcomes lets
   * one of the two be first, and the other finds it.
   */
  const close = (owner: ChargeOwner, decide: (found: Ledger) => Change | null, eventId?: string): Promise<void> =>
    retryConflicts(async () => {
      let found = await store.orders.find({ id: owner.order_id })
      if (!found) {
        if (await store.charges.end(owner, 'withdrawn', 'withdrawn', eventId)) return
        found = await store.orders.find({ id: owner.order_id })
      }
      const change = found && decide(found)
      if (change) return store.orders.commit(change, eventId === undefined ? {} : { eventId })
      if (eventId !== undefined) await store.charges.recordEvent(eventId)
    })

  /** An ended subscription's orders, all of them; the event is in the inbox with the last. */
  const closeAll = async (data: SubscriptionClosed, eventId: string): Promise<void> => {
    const ids = data.open_order_ids ?? (data.open_order_id === null ? [] : [data.open_order_id])
    const { merchant_id, merchant_version, subscription } = data
    for (const orderId of ids) {
      const owner = { merchant_id, merchant_version, subscription_id: subscription.id, order_id: orderId }
      await close(owner, found => release(found, store.chain.view(found.order.chainId), now()))
    }
    await store.charges.recordEvent(eventId)
  }

  const announceMemo = async (memo: string): Promise<void> => {
    const owner = await store.orders.ownerOf(memo)
    if (owner) announce(owner)
  }

  /**
   * However long ago the order was paid: what could not be swept may be swept much later. Strangers' sweeps of the same memo for others are not worth a
   * look. Answers whose it is.
   */
  const lookWhetherSettled = async (memo: string, merchantAddress: string) => {
    const owner = await store.orders.ownerOf(memo)
    const isWaiting = owner?.status === 'paid' && owner.settledAt === null
    if (isWaiting && owner.merchantAddress.toLowerCase() === merchantAddress.toLowerCase()) await publishIfSettled(store, owner.id, now)
    return owner
  }

  const recordSweep = async (sweep: ChainSweep, status: 'confirmed' | 'orphaned', eventId: string): Promise<void> => {
    await store.deposits.recordSweep(sweep, status, eventId)
    const owner = await lookWhetherSettled(sweep.memo, sweep.merchant_address)
    if (owner) announce(owner)
  }

  return {
    async 'merchant.updated'({ id, data }) {
      await store.merchants.save(data, id)
      if (data.payout_address === null) return
      await store.charges.hurry(data, now())
      charges.waiting.wake()
    },
    'payment.detected': ({ id, data }) => ingestion.ingestPayment(data, 'detected', id),
    async 'payment.confirmed'({ id, data }) {
      await ingestion.ingestPayment(data, 'confirmed', id)
      // Its sweep may have been reported before it; dust is not waited for.
      if (data.kind === 'transfer' && parseUsdc(data.amount) >= CENT) await lookWhetherSettled(data.memo, data.merchant_address)
    },
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

    'subscription.charge_requested': event => charges.requested(event.data, event),
    'subscription.cancelled': ({ id, data }) => closeAll(data, id),
    'subscription.expired': ({ id, data }) => closeAll(data, id),

    'subscription.order_superseded': ({ id, data }) =>
      close(data, found => (data.is_replaced ? release : supersede)(found, store.chain.view(found.order.chainId), now()), id),
  }
}
