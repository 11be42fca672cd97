import { type ChainPayment, parseUsdc } from '@ponte/contracts'
import { addLogFields, type Logger, retryConflicts } from '@ponte/service-kit'
import { checksumAddress } from './chain'
import { keyedMutex } from './keyed-mutex'
import { type Ledger, receivePayment } from './order'
import {
  leastPayment,
  livePayments,
  type MismatchReason,
  mismatchOf,
  type Payment,
  type PaymentStatus,
  sumUnits,
  type Target,
  UNITS_MAX,
  unmatchedEvents,
  withPayment,
} from './payment'
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

/** What becomes of a payment that the listener reports: it counts for its order, or it is kept with the reason why it does not. */
export function createIngestion({ store, now, logger, onUnmatched, onReorged }: IngestionDeps) {
  /** Throws an error that `isStale` knows when the order moved on since it was read. */
  const record = async (ledger: Ledger, payment: Payment, cause: Cause): Promise<void> => {
    const { order, payments } = ledger
    const change = receivePayment(ledger, payment, store.chain.view(order.chainId), now())
    await store.orders.commit(change, { ...cause, payment })
    const before = payments.find(known => known.id === payment.id)
    if (payment.status !== 'orphaned' || before?.status !== 'confirmed') return
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

  /** Gives an order what was paid for it before it was known here. */
  const claimEarlyPayments = async (memo: string): Promise<void> => {
    // Anyone may pay a memo of no order as often as they like: what waits is not read with each of them.
    if (!(await store.orders.find({ memo }))) return
    for (const { payment, target } of await store.unmatched.ofMemo(memo)) {
      await retryConflicts(async () => {
        const found = await store.orders.find({ memo })
        if (!found) return
        const reason = mismatchOf(target, found.order) ?? capacityMismatch(found, payment)
        if (reason) await store.unmatched.setReason(payment.id, reason)
        else await record(found, payment, {})
      })
    }
  }

  const ingestPayment = (data: ChainPayment, status: PaymentStatus, eventId: string): Promise<void> =>
    retryConflicts(async () => {
      const payment = toPayment(data, status)
      const cause: Cause = { eventId, sequence: { chainId: data.chain_id, sequence: data.sequence } }
      const found = await store.orders.find({ memo: data.memo })
      if (found) addLogFields({ order_id: found.order.id, merchant_id: found.order.merchantId })
      const reason = mismatchOf(targetOf(data, payment), found?.order ?? null) ?? (found && capacityMismatch(found, payment))
      if (!found || reason) return ingestUnmatched(data, payment, reason ?? 'unknown_memo', cause)
      const isKnown = found.payments.some(known => known.id === payment.id && known.revision >= payment.revision)
      if (isKnown) return store.chain.recordEvent(data, eventId)
      return record(found, payment, cause)
    })

  const ingestUnmatched = async (data: ChainPayment, payment: Payment, reason: MismatchReason, cause: Cause): Promise<void> => {
    const merchants = await store.merchants.paidAt(checksumAddress(data.merchant_address))
    await store.unmatched.record(data, payment, reason, cause, { events: unmatchedEvents(data, payment, reason, merchants), at: now() })
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

/** An order takes no further payment whose sum its columns do not hold, nor one that is worth too little beside so many. */
function capacityMismatch({ payments }: Ledger, payment: Payment): MismatchReason | null {
  const isKnown = payments.some(({ id }) => id === payment.id)
  if (!isKnown && payment.grossUnits < leastPayment(payments.length)) return 'amount_out_of_range'
  return sumUnits(livePayments(withPayment(payments, payment))) > UNITS_MAX ? 'amount_out_of_range' : null
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
  kind: data.kind,
  revision: data.revision,
  status,
  grossUnits: parseUsdc(data.amount),
  payerAddress: data.payer_address,
  depositAddress: data.deposit_address,
  txHash: data.tx_hash,
  blockNumber: BigInt(data.block_number),
  blockTime: new Date(data.block_time),
  logIndex: data.log_index,
})
