import { type ChainPayment, parseUsdc } from '@ponte/contracts'
import { addLogFields, isStale, type Logger, RetryableError } from '@ponte/service-kit'
import { keyedMutex } from './keyed-mutex'
import { type Ledger, review } from './order'
import { type MismatchReason, mismatchOf, type Payment, type PaymentStatus, type Target, withPayment } from './payment'
import type { Cause, Store } from './store'

export interface IngestionDeps {
  store: Store
  now: () => Date
  logger: Logger
  onUnmatched(reason: MismatchReason): void
  /** Called when a reorg took away a payment that had been confirmed. */
  onReorged(): void
}

export type Ingestion = ReturnType<typeof createIngestion>

/** After so many races lost in a row the event goes back to the bus, which waits longer each time. */
const RACES_MAX = 5

/** What becomes of a payment that the listener reports: it counts for its order, or it is kept with the reason why it does not. */
export function createIngestion({ store, now, logger, onUnmatched, onReorged }: IngestionDeps) {
  /** False when the order moved on since it was read. */
  const record = async (ledger: Ledger, payment: Payment, cause: Cause): Promise<boolean> => {
    const { order, payments } = ledger
    const change = review({ ...ledger, payments: withPayment(payments, payment) }, store.chain.view(order.chainId), now())
    try {
      await store.orders.commit(change, { ...cause, payment })
    } catch (error) {
      if (isStale(error)) return false
      throw error
    }
    const before = payments.find(known => known.id === payment.id)
    if (payment.status === 'orphaned' && before?.status === 'confirmed') {
      onReorged()
      logger.error('a reorg took away a confirmed payment', {
        order_id: order.id,
        from: order.status,
        to: change.order.status,
        notified_paid: order.paidAt !== null,
        payment_id: payment.id,
        tx_hash: payment.txHash,
        gross_units: payment.grossUnits,
      })
    }
    return true
  }

  /** Gives an order what was paid for it before it was known here. */
  const claimEarlyPayments = async (memo: string): Promise<void> => {
    for (const { payment, target } of await store.unmatched.ofMemo(memo)) {
      let races = 0
      for (let isDone = false; !isDone; races++) {
        if (races === RACES_MAX) throw new RetryableError(`The order of memo ${memo} changed under each of ${RACES_MAX} tries.`)
        const found = await store.orders.find({ memo })
        if (!found) return
        const reason = mismatchOf(target, found.order)
        if (reason) await store.unmatched.setReason(payment.id, reason)
        isDone = reason !== null || (await record(found, payment, {}))
      }
    }
  }

  const ingestPayment = async (data: ChainPayment, status: PaymentStatus, eventId: string): Promise<void> => {
    const payment = toPayment(data, status)
    const cause: Cause = { eventId, sequence: { chainId: data.chain_id, sequence: data.sequence } }
    for (let race = 1; ; race++) {
      const found = await store.orders.find({ memo: data.memo })
      if (found) addLogFields({ order_id: found.order.id, merchant_id: found.order.merchantId })
      const reason = mismatchOf(targetOf(data, payment), found?.order ?? null)
      if (!found || reason) return ingestUnmatched(data, payment, reason ?? 'unknown_memo', cause)
      if (found.payments.some(known => known.id === payment.id && known.revision >= payment.revision)) {
        return store.chain.recordEvent(data, eventId)
      }
      if (await record(found, payment, cause)) return
      if (race === RACES_MAX) throw new RetryableError(`Order ${found.order.id} changed under each of ${RACES_MAX} tries.`)
    }
  }

  const ingestUnmatched = async (data: ChainPayment, payment: Payment, reason: MismatchReason, cause: Cause): Promise<void> => {
    await store.unmatched.record(data, payment, reason, cause)
    onUnmatched(reason)
    logger.warn('a payment matches no order', {
      reason,
      status: payment.status,
      payment_id: data.payment_id,
      memo: data.memo,
      merchant_address: data.merchant_address,
      amount: data.amount,
    })
    // The order may have been created since it was looked for, by a replica that looked for payments before this one was written.
    if (reason === 'unknown_memo') await claimEarlyPayments(data.memo)
  }

  const exclusive = keyedMutex()
  return {
    claimEarlyPayments,
    ingestPayment: (data: ChainPayment, status: PaymentStatus, eventId: string): Promise<void> =>
      exclusive(data.memo, () => ingestPayment(data, status, eventId)),
  }
}

const targetOf = (data: ChainPayment, payment: Payment): Target => ({
  chainId: data.chain_id,
  routerAddress: data.router_address,
  tokenAddress: data.token_address,
  merchantAddress: data.merchant_address,
  depositAddress: payment.depositAddress,
  grossUnits: payment.grossUnits,
})

const toPayment = (data: ChainPayment, status: PaymentStatus): Payment => ({
  id: data.payment_id,
  kind: data.kind ?? 'router',
  revision: data.revision,
  status,
  grossUnits: grossOf(data),
  payerAddress: data.payer_address,
  depositAddress: data.deposit_address ?? null,
  txHash: data.tx_hash,
  blockNumber: BigInt(data.block_number),
  blockTime: new Date(data.block_time),
  logIndex: data.log_index ?? 0,
})

const grossOf = ({ amount, merchant_share, fee }: ChainPayment): bigint =>
  amount === undefined ? parseUsdc(merchant_share ?? '0') + parseUsdc(fee ?? '0') : parseUsdc(amount)
