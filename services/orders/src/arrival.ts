import { type ChainPayment, merchantShare, parseUsdc } from '@ponte/contracts'
import { addLogFields, isStale, type Logger, RetryableError } from '@ponte/service-kit'
import { inTurn } from './in-turn'
import { type Misfit, misfit } from './matching'
import { review } from './order'
import { type Payment, paymentStatus } from './settlement'
import type { Store } from './store'
import type { Ledger } from './store/ledger'
import type { Cause } from './store/orders'

export interface ArrivalDeps {
  store: Store
  now: () => Date
  logger: Logger
  onUnmatched(reason: Misfit): void
  /** Called when a reorg took away a payment that had been confirmed. */
  onReorged(): void
}

export type Arrivals = ReturnType<typeof createArrivals>

/** After so many races lost in a row the event goes back to the bus, which waits longer each time. */
const RACES_MAX = 5

/** What becomes of a payment that the listener reports: it settles its order, or it is kept with the reason why it does not. */
export function createArrivals({ store, now, logger, onUnmatched, onReorged }: ArrivalDeps) {
  /** False when the order moved on since it was read. */
  const settle = async ({ order, payments }: Ledger, payment: Payment, cause: Cause): Promise<boolean> => {
    const change = review(order, withPayment(payments, payment), store.chainTime(order.chainId), now())
    try {
      await store.commit(change, { ...cause, payment })
    } catch (error) {
      if (isStale(error)) return false
      throw error
    }
    const before = payments.find(known => known.id === payment.id)
    if (payment.status === 'orphaned' && before?.status === 'confirmed') {
      onReorged()
      logger.error('a reorg took away a confirmed payment', {
        ...{ order_id: order.id, from: order.status, to: change.order.status, told_paid: order.paidAt !== null },
        ...{ payment_id: payment.id, tx_hash: payment.txHash, share_units: payment.shareUnits },
      })
    }
    return true
  }

  /** Gives an order what was paid for it before it was known here. */
  const adopt = async (memo: string): Promise<void> => {
    for (const unmatched of await store.unmatchedOf(memo)) {
      // A deposit and its sweep are told of orders that exist, so nothing unmatched replaces anything.
      const payment: Payment = { ...unmatched, status: paymentStatus(unmatched.status), replaces: [] }
      for (let settled = false; !settled; ) {
        const found = await store.find({ memo })
        if (!found) return
        const reason = misfit(unmatched, found.order)
        if (reason) await store.nameReason(unmatched.id, reason)
        settled = reason !== null || (await settle(found, payment, {}))
      }
    }
  }

  const arrive = async (data: ChainPayment, status: Payment['status'], eventId: string): Promise<void> => {
    const cause: Cause = { eventId, sequence: { chainId: data.chain_id, sequence: data.sequence } }
    for (let race = 1; ; race++) {
      const found = await store.find({ memo: data.memo })
      if (found) addLogFields({ order_id: found.order.id, merchant_id: found.order.merchantId })
      const payment = toPayment(data, status, found?.order.feeBps ?? 0n)
      const reason = misfit({ ...targetOf(data), shareUnits: payment.shareUnits }, found?.order ?? null)
      if (!found || reason) {
        await store.recordUnmatched(data, status, reason ?? 'unknown_memo', eventId)
        onUnmatched(reason ?? 'unknown_memo')
        const said = {
          payment_id: data.payment_id,
          memo: data.memo,
          merchant_address: data.merchant_address,
          amount: data.amount ?? data.merchant_share,
        }
        logger.warn('a payment settles nothing', { reason: reason ?? 'unknown_memo', status, ...said })
        // The order may have been created since we looked; its creator may have looked for payments before this one was written.
        return found ? undefined : adopt(data.memo)
      }
      if (found.payments.some(known => known.id === payment.id && known.revision >= payment.revision)) {
        return store.recordSeen(data, eventId)
      }
      if (await settle(found, payment, cause)) return
      if (race === RACES_MAX) throw new RetryableError(`Order ${found.order.id} changed under each of ${RACES_MAX} tries.`)
    }
  }

  const turns = inTurn()
  return {
    adopt,
    arrive: (data: ChainPayment, status: Payment['status'], eventId: string): Promise<void> =>
      turns(data.memo, () => arrive(data, status, eventId)),
  }
}

/** The ledger with what the listener says now; an older revision of the same payment changes nothing. */
export function withPayment(payments: readonly Payment[], said: Payment): Payment[] {
  const known = payments.find(payment => payment.id === said.id)
  if (known && known.revision >= said.revision) return [...payments]
  return [...payments.filter(payment => payment.id !== said.id), said]
}

const targetOf = (data: ChainPayment) => ({
  chainId: data.chain_id,
  routerAddress: data.router_address,
  tokenAddress: data.token_address,
  merchantAddress: data.merchant_address,
})

const toPayment = (data: ChainPayment, status: Payment['status'], feeBps: bigint): Payment => ({
  id: data.payment_id,
  revision: data.revision,
  status,
  shareUnits: data.amount === undefined ? parseUsdc(data.merchant_share ?? '0') : merchantShare(parseUsdc(data.amount), feeBps),
  payerAddress: data.payer_address,
  txHash: data.tx_hash,
  blockNumber: BigInt(data.block_number),
  blockTime: new Date(data.sent_time ?? data.block_time),
  replaces: data.replaces ?? [],
})
