import { type ChainPayment, parseUsdc } from '@ponte/contracts'
import { addLogFields, type Logger, retryConflicts } from '@ponte/service-kit'
import { checksumAddress } from './chain'
import { keyedBatch } from './keyed-batch'
import { type Ledger, receivePayments } from './order'
import {
  isSamePlace,
  leastPayment,
  livePayments,
  type MismatchReason,
  mismatchOf,
  type Payment,
  type PaymentStatus,
  sumUnits,
  type Target,
  UNITS_MAX,
  underKnownId,
  unmatchedEvents,
  withPayment,
} from './payment'
import { isOthersPayment, type Report, type Store } from './store'

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
  const record = async (ledger: Ledger, reports: readonly Report[]): Promise<void> => {
    const { order, payments } = ledger
    const received = reports.flatMap(({ payment }) => payment ?? [])
    const change = receivePayments(ledger, received, store.chain.view(order.chainId), now())
    await store.orders.commit(change, { reports })
    for (const payment of received) {
      const before = payments.find(known => known.id === payment.id)
      if (payment.status !== 'orphaned' || before?.status !== 'confirmed') continue
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
  }

  /** Gives an order what was paid for it before it was known here. */
  const claimEarlyPayments = async (memo: string): Promise<void> => {
    // Anyone may pay a memo of no order as often as they like: what waits is not read with each of them.
    if (!(await store.orders.find({ memo }))) return
    for (const { payment, target } of await store.unmatched.ofMemo(memo)) {
      await retryConflicts(async () => {
        const found = await store.orders.find({ memo })
        if (!found) return
        const reason = mismatchOf(target, found.order) ?? capacityMismatch(found.payments, payment)
        if (reason) await store.unmatched.setReason(payment.id, reason)
        else await record(found, [{ payment }])
      })
    }
  }

  /** What was reported of payments with one memo, in one write: as many as have come while those before were written. */
  const ingestPayments = async (memo: string, incoming: readonly Incoming[]): Promise<void> => {
    const { known, unmatched } = await recordIncoming(memo, incoming, new Set()).catch(async error => {
      const taken = isOthersPayment(error) ? await takenIds(memo, incoming) : new Set<string>()
      if (taken.size === 0) throw error
      return recordIncoming(memo, incoming, taken)
    })
    await Promise.all([
      ...known.map(({ data, eventId }) => store.chain.recordEvent(data, eventId)),
      ...unmatched.map(({ data, eventId, payment, reason }) => ingestUnmatched(data, payment, reason, eventId)),
    ])
    // The order may have been created since it was looked for, by a replica that looked for payments before these were written.
    if (unmatched.some(({ reason }) => reason === 'unknown_memo')) await claimEarlyPayments(memo)
  }

  const recordIncoming = (memo: string, incoming: readonly Incoming[], taken: ReadonlySet<string>) =>
    retryConflicts(async () => {
      const found = await store.orders.find({ memo })
      if (found) addLogFields({ order_id: found.order.id, merchant_id: found.order.merchantId })
      const sorted = sortIncoming(incoming, found, taken)
      const isNewest = (payment: Payment) => sorted.payments.includes(payment)
      const reports = sorted.counted.map(({ data, eventId, payment }) => ({
        eventId,
        sequence: { chainId: data.chain_id, sequence: data.sequence },
        ...(isNewest(payment) ? { payment } : {}),
      }))
      if (found && reports.length > 0) await record(found, reports)
      return sorted
    })

  /** Ids under which other orders have payments of other places. Two orders' claim to one place is no other numbering. */
  const takenIds = async (memo: string, incoming: readonly Incoming[]): Promise<Set<string>> => {
    const others = await store.orders.paymentsOfOthers(
      memo,
      incoming.map(({ payment }) => payment.id),
    )
    const isClaimed = (other: Payment) => incoming.some(({ payment }) => payment.id === other.id && isSamePlace(payment, other))
    return new Set(others.filter(other => !isClaimed(other)).map(({ id }) => id))
  }

  const ingestUnmatched = async (data: ChainPayment, payment: Payment, reason: MismatchReason, eventId: string): Promise<void> => {
    const merchants = await store.merchants.paidAt(checksumAddress(data.merchant_address))
    await store.unmatched.record(data, payment, reason, eventId, { events: unmatchedEvents(data, payment, reason, merchants), at: now() })
    onUnmatched(reason)
    logger.warn('a payment matches no order', {
      reason,
      status: payment.status,
      payment_id: data.payment_id,
      memo: data.memo,
      merchant_address: data.merchant_address,
      amount: data.amount,
    })
  }

  const ingest = keyedBatch(ingestPayments)
  return {
    claimEarlyPayments,
    ingestPayment: (data: ChainPayment, status: PaymentStatus, eventId: string): Promise<void> =>
      ingest(data.memo, { data, eventId, payment: toPayment(data, status) }),
  }
}

/** A report as it came. */
interface Incoming {
  data: ChainPayment
  eventId: string
  payment: Payment
}

/** What becomes of reports about one memo, in the order in which they came; `payments` are the order's with those that count. */
function sortIncoming(incoming: readonly Incoming[], found: Ledger | null, taken: ReadonlySet<string>) {
  const counted: Incoming[] = []
  const known: Incoming[] = []
  const unmatched: (Incoming & { reason: MismatchReason })[] = []
  let payments = found?.payments ?? []
  for (const { data, eventId, payment: reported } of incoming) {
    const payment = underKnownId(payments, reported, data.memo, taken)
    const one = { data, eventId, payment }
    const reason = mismatchOf(targetOf(data, payment), found?.order ?? null) ?? capacityMismatch(payments, payment)
    if (reason) unmatched.push({ ...one, reason })
    else if (found?.payments.some(({ id, revision }) => id === payment.id && revision >= payment.revision)) known.push(one)
    else {
      payments = withPayment(payments, payment)
      counted.push(one)
    }
  }
  return { counted, known, unmatched, payments }
}

/** An order takes no further payment whose sum its columns do not hold, nor one that is worth too little beside so many. */
function capacityMismatch(payments: readonly Payment[], payment: Payment): MismatchReason | null {
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
