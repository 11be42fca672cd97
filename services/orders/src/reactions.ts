import { ApiError, type ChainPayment, parseBrl, parseUsdc } from '@ponte/contracts'
import { type Reactions, RetryableError } from '@ponte/service-kit'
import { misfit } from './matching'
import type { Opening } from './opening'
import { cancel, review } from './order'
import type { Payment } from './settlement'
import type { Store } from './store'
import { isKnownOrder } from './store/orders'

export interface ReactionDeps {
  store: Store
  now: () => Date
  opening: Opening
  /** Called when the confirmed chain moved, so that expiry looks at once. */
  chainMoved(): void
}

/** What orders does when others speak: find, decide, commit. */
export function reactions({ store, now, opening, chainMoved }: ReactionDeps): Reactions {
  const paid = (status: Payment['status']) => async (event: { id: string; data: ChainPayment }) => {
    const { data } = event
    const found = await store.find({ memo: data.memo })
    const reason = misfit(data, found?.order ?? null)
    if (!found || reason) return store.recordUnmatched(data, status, reason ?? 'unknown_memo', event.id)
    const payment = toPayment(data, status)
    const chainTime = await store.chainTime(data.chain_id)
    const change = review(found.order, withPayment(found.payments, payment), chainTime, now())
    await store.commit(change, { eventId: event.id, payment, sequence: { chainId: data.chain_id, sequence: data.sequence } })
  }

  return {
    'merchant.updated': event => store.saveMerchant(event.data, event.id),
    'payment.detected': paid('detected'),
    'payment.confirmed': paid('confirmed'),
    'payment.orphaned': paid('orphaned'),

    async 'chain.advanced'(event) {
      await store.recordAdvance(event.data, event.id)
      chainMoved()
    },

    async 'subscription.charge_requested'({ id, data }) {
      const terms = await store.newestTerms(data.terms)
      const change = whenPriced(() =>
        opening.open({
          id: data.order_id,
          memo: data.memo,
          terms,
          subscriptionId: data.subscription_id,
          externalRef: data.external_ref,
          description: data.description,
          metadata: data.metadata,
          brlCentavos: parseBrl(data.brl_amount),
          expiresAt: new Date(now().getTime() + data.expires_in * 1000),
        }),
      )
      try {
        await store.insert(change, { eventId: id })
      } catch (error) {
        if (!isKnownOrder(error)) throw error
      }
    },

    async 'subscription.cancelled'({ id, data }) {
      const found = data.open_order_id === null ? null : await store.find({ id: data.open_order_id })
      const cancellable = found?.order.status === 'pending' && found.payments.every(payment => payment.status === 'orphaned')
      const change = found && cancellable ? cancel(found.order, found.payments, now()) : null
      if (change) await store.commit(change, { eventId: id })
    },
  }
}

/** A charge without a fresh rate waits for one: it comes again until it can be priced. */
function whenPriced<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'rate_unavailable') throw new RetryableError(error.message)
    throw error
  }
}

/** The ledger with what the listener says now; an older revision of the same payment changes nothing. */
function withPayment(payments: readonly Payment[], said: Payment): Payment[] {
  const known = payments.find(payment => payment.id === said.id)
  if (known && known.revision >= said.revision) return [...payments]
  return [...payments.filter(payment => payment.id !== said.id), said]
}

const toPayment = (data: ChainPayment, status: Payment['status']): Payment => ({
  id: data.payment_id,
  revision: data.revision,
  status,
  shareUnits: parseUsdc(data.merchant_share),
  payerAddress: data.payer_address,
  txHash: data.tx_hash,
  blockNumber: BigInt(data.block_number),
  blockTime: new Date(data.block_time),
})
