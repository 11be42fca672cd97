import {
  CENT,
  type ChainAudited,
  type ChainBlocks,
  type PaidData,
  parseBrl,
  type RecoveryObserved,
  type RefundObserved,
  type SubscriptionClosed,
} from '@ponte/contracts'
import { type Logger, outboxRows, type Reactions, RetryableError, retryConflicts } from '@ponte/service-kit'
import type { Charges } from './charges'
import { publishIfSettled } from './due/payouts'
import type { Intake } from './intake'
import { acceptWithPeriod, isUnpaid } from './order/acceptance'
import { type Change, type Ledger, release, supersede } from './order/order'
import { payoutAddressOn } from './payment/payment'
import { observe as observeRecovered } from './recovery/recovery'
import { observe, promisedOf, promisedWith, recovered, refundEvents } from './refund/stored-refund'
import type { ChargeOwner, Store } from './store'

export interface ReactionDeps {
  store: Store
  /** Networks that are followed. */
  chainIds: readonly number[]
  now: () => Date
  intake: Intake
  charges: Charges
  /** Called when more of the chain is known, so that expiry looks at once. */
  chainMoved(): void
  /** Called when a merchant may be paid at another address, so that it is watched at once. */
  payoutChanged(): void
  announce(order: { id: string; merchantId: string }): void
  logger: Logger
  /** Called when a chain time is not believed. */
  onQuarantined(): void
  audited(sums: ChainAudited): void
}

/** Confirmations are announced for this many orders at once; pages of the others poll. */
const ANNOUNCED_MAX = 500

/** Handlers of others' events: find, decide, commit. */
export function reactions(deps: ReactionDeps): Reactions {
  const { store, chainIds, now, intake, charges, chainMoved, payoutChanged, announce, logger, onQuarantined, audited } = deps
  /**
   * Closes an order that is no longer wanted. One that was never opened leaves a tombstone, because its charge may still come: the key of outcomes lets
   * one of the two be first, and the other finds it.
   */
  const close = (owner: ChargeOwner, decide: (found: Ledger) => Change | null, eventId?: string): Promise<void> =>
    retryConflicts(async () => {
      let found = await store.orders.find(owner.order_id)
      if (!found) {
        if (await store.charges.end(owner, 'withdrawn', 'withdrawn', eventId)) return
        found = await store.orders.find(owner.order_id)
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
      await close(owner, found => release(found, store.chain.viewOf(found.order), now()))
    }
    await store.charges.recordEvent(eventId)
  }

  const announceMemo = async (memo: string): Promise<void> => {
    const owner = await store.orders.ownerOf(memo)
    if (owner) announce(owner)
  }

  /** However long ago the order was paid: what could not be swept may be swept much later. Strangers' sweeps of the same memo for others are not worth a look. */
  const lookWhetherSettled = async (memo: string, chainId: number, merchantAddress: string): Promise<void> => {
    const owner = await store.orders.ownerOf(memo)
    if (!owner) return
    const isWaiting = owner.status === 'paid' && owner.settledAt === null
    if (isWaiting && payoutAddressOn(owner, chainId).toLowerCase() === merchantAddress.toLowerCase())
      await publishIfSettled(store, owner.id, now)
    announce(owner)
  }

  const takeIn = async (blocks: ChainBlocks, eventId: string): Promise<void> => {
    const { advanced } = blocks
    if (advanced && store.chain.liesAhead(advanced.time)) {
      logger.error('the listener reports a confirmed time that lies ahead of our clock; it is not believed', { ...advanced })
      onQuarantined()
    }
    const taken = await intake.take(blocks, eventId)
    chainMoved()
    for (const { memo, merchant_address } of blocks.sweeps) await lookWhetherSettled(memo, blocks.chain_id, merchant_address)
    // Its sweep may have been reported before it; dust is not waited for.
    for (const { change, before } of taken.orders) {
      const { settledAt, status, transferUnits, memo } = change.order
      const isNews = before.order.status !== 'paid' || transferUnits - before.order.transferUnits >= CENT
      if (status === 'paid' && settledAt === null && isNews)
        await lookWhetherSettled(memo, blocks.chain_id, payoutAddressOn(change.order, blocks.chain_id))
    }
    for (const order of await store.orders.confirming(blocks.chain_id, ANNOUNCED_MAX)) announce(order)
  }

  /** Money that its subscription accepted was on record here; where it is not, this database was restored, and the listener states it once more. */
  const isGone = async ({ id, tx_hash }: PaidData): Promise<boolean> => {
    const history = await store.orders.history(id)
    return history?.payments.some(({ txHash, status }) => txHash === tx_hash && status === 'orphaned') ?? true
  }

  /** The order is read before the refund: a refund that another statement or request changed in between moves the order on. */
  const observeRefund = (stated: RefundObserved, eventId: string): Promise<void> =>
    retryConflicts(async () => {
      const found = await store.orders.find(stated.order_id)
      const known = await store.refunds.find(stated.refund_id)
      if (!found) {
        logger.error('the listener watches a refund of an order that is not known', {
          refund_id: stated.refund_id,
          order_id: stated.order_id,
        })
        return store.refunds.ignore(eventId)
      }
      if (!known) logger.error('the listener watches a refund that was lost here; it is taken up again', { refund_id: stated.refund_id })
      const isBelieved = !store.chain.liesAhead(stated.block_time)
      const before = known ?? recovered(stated, found.order, now())
      const next = observe(before, stated, isBelieved, now())
      if (!next) return store.refunds.ignore(eventId)
      if (!isBelieved) onQuarantined()
      const { promisedUnits, news } = promisedWith(found.order, await store.refunds.ofOrder(found.order.id), next, now())
      const events = outboxRows([...refundEvents(before, next, found.order, now()), ...news], now())
      await store.refunds.commit(found.order, [next], { eventId, events, promisedUnits })
      announce(found.order)
    })

  const observeRecovery = (stated: RecoveryObserved, eventId: string): Promise<void> =>
    retryConflicts(async () => {
      const { order_id: orderId, chain_id, token_address } = stated
      const found = await store.foreignTokens.ofOrder(orderId)
      const token = found.find(({ chainId, tokenAddress }) => chainId === chain_id && tokenAddress === token_address)
      const next = token && observeRecovered(token, stated, now())
      if (!token)
        logger.warn('the listener recovers a token that was not found here', { recovery_id: stated.recovery_id, order_id: orderId })
      if (!next) return store.foreignTokens.ignore(eventId)
      await store.foreignTokens.commit(next, { eventId })
      announce({ id: next.orderId, merchantId: next.merchantId })
    })

  return {
    async 'merchant.updated'({ id, data, occurred_at }) {
      await store.merchants.save(data, new Date(occurred_at), chainIds, id)
      if (data.payout_address === null) return
      payoutChanged()
      await store.charges.hurry(data, now())
      charges.waiting.wake()
    },
    'chain.blocks': ({ id, data }) => takeIn(data, id),

    async 'deposit.blocked'({ id, data }) {
      await store.deposits.markBlocked(data, id)
      await announceMemo(data.memo)
    },

    async 'authorization.changed'({ id, data }) {
      await store.authorizations.record(data, id)
      const found = await store.orders.find(data.order_id)
      if (found) announce(found.order)
    },

    'payout.watched': ({ id, data }) => store.payoutSpans.record(data, id),
    'refund.observed': ({ id, data }) => observeRefund(data, id),
    'recovery.observed': ({ id, data }) => observeRecovery(data, id),

    async 'chain.audited'({ id, data }) {
      audited(data)
      await store.chain.ignore(id)
    },

    async 'subscription.charged'({ id, data: { accepted, order } }) {
      if (!accepted) return
      await retryConflicts(async () => {
        const found = await store.orders.find(order.id)
        // This database was restored: its charge is asked for once more, perhaps behind this, or never again.
        if (!found) throw new Error('A period is counted as paid with an order that is not known.')
        if (isUnpaid(found.order) && !(await isGone(order)))
          throw new RetryableError('What was accepted with its period has not come for the order yet.')
        // Read behind the order, whose version a refund moves on.
        const isPromised = promisedOf(await store.refunds.ofOrder(order.id)) > 0n
        const change = !isPromised && acceptWithPeriod(found, accepted.by, store.chain.viewOf(found.order), now())
        if (change) await store.orders.commit(change, { eventId: id })
        else await store.charges.recordEvent(id)
      })
    },
    'subscription.charge_requested': event => charges.requested(event.data, event),
    'subscription.cancelled': ({ id, data }) => closeAll(data, id),
    'subscription.expired': ({ id, data }) => closeAll(data, id),

    'subscription.order_superseded': ({ id, data }) => {
      const { is_replaced, deducted_brl_amount: deducted } = data
      const view = (found: Ledger) => store.chain.viewOf(found.order)
      if (is_replaced) return close(data, found => release(found, view(found), now()), id)
      return close(data, found => supersede(found, view(found), now(), deducted === undefined ? null : parseBrl(deducted)), id)
    },
  }
}
