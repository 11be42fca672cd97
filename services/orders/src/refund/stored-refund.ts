import { ApiError, formatUsdc, invalidField, type NewEvent, parseUsdc, type RefundObserved, type RefundWatch } from '@ponte/contracts'
import { type Order, ownerOf, promising, receivedUnits } from '../order/order'
import type { Authorization } from '../payment/authorization'
import { confirmedPayments, isOfChain, type Payment } from '../payment/payment'
import { isAlive, type NonceFact, promisedUnits, type Refund, type RefundSignature, type RefundView, refundStatus } from './refund'

/** A refund as it is kept: its terms, and what the listener last observed of its nonce. It has one payee and one amount, so one nonce. */
export interface StoredRefund {
  id: string
  orderId: string
  merchantId: string
  chainId: number
  units: bigint
  payee: string
  fromAddress: string
  nonce: string
  watchFrom: bigint
  reason: string
  /** `sub` of the user who asked for it; null for a key. */
  requestedBy: string | null
  /** `sub` of the first other member who agreed to it. */
  approvedBy: string | null
  approvedAt: Date | null
  createdAt: Date
  cancelledAt: Date | null
  generation: string | null
  revision: number
  knownBlock: bigint | null
  knownTime: Date | null
  knownAt: Date | null
  walletUnits: bigint | null
  ended: NonceFact['end'] | null
  txHash: string | null
  logIndex: number | null
  blockNumber: bigint | null
  blockTime: Date | null
  signatures: readonly StoredSignature[]
}

export interface StoredSignature {
  validBefore: Date
  /** Null where it was only seen on the chain. */
  signature: string | null
  seenAt: Date
}

/** Nothing observed or approved yet. */
export const UNOBSERVED = {
  approvedBy: null,
  approvedAt: null,
  cancelledAt: null,
  generation: null,
  revision: 0,
  knownBlock: null,
  knownTime: null,
  knownAt: null,
  walletUnits: null,
  ended: null,
  txHash: null,
  logIndex: null,
  blockNumber: null,
  blockTime: null,
  signatures: [],
}

/** A signature that was seen on the chain alone ends at no time that we know. */
export const NO_END = new Date('9999-12-31T00:00:00.000Z')

/** As the rule judges it. */
export const toRefund = ({ id, units, payee, cancelledAt, nonce, signatures }: StoredRefund): Refund => ({
  ...{ id, units, payee, cancelledAt },
  signatures: signatures.map(({ validBefore }) => ({ nonce, payee, units, validBefore })),
})

/** The confirmed chain as far as the listener has stated it about this very nonce: that time alone lets a signature end. */
export const viewOf = ({ nonce, ended, knownTime, walletUnits }: StoredRefund): RefundView => ({
  facts: ended === null ? [] : [{ nonce, end: ended, isConfirmed: true }],
  chain: { time: knownTime },
  walletUnits,
})

/** All refunds of an order for their sums, each without the signatures that have ended by its own view. */
export const toSummed = (refunds: readonly StoredRefund[]): { refunds: Refund[]; view: RefundView } => ({
  refunds: refunds.map(refund => {
    const [judged, view] = [toRefund(refund), viewOf(refund)]
    const isOver = (signature: RefundSignature) => refund.ended !== 'transferred' && !isAlive(signature, view)
    return { ...judged, signatures: judged.signatures.filter(signature => !isOver(signature)) }
  }),
  view: { facts: refunds.flatMap(refund => viewOf(refund).facts), chain: { time: null }, walletUnits: null },
})

export function promisedOf(refunds: readonly StoredRefund[]): bigint {
  const summed = toSummed(refunds)
  return promisedUnits(summed.refunds, summed.view)
}

/** The sum of an order's refunds with this one changed, and the events about it. */
export function promisedWith(order: Order, refunds: readonly StoredRefund[], changed: StoredRefund, at: Date) {
  const promisedUnits = promisedOf([...refunds.filter(({ id }) => id !== changed.id), changed])
  return { promisedUnits, news: promising(order, promisedUnits, at) }
}

/** Money that goes back cannot count as payment by the merchant's word. Throws `invalid_state`. */
export function requireNonePromised(refunds: readonly StoredRefund[]): void {
  if (promisedOf(refunds) > 0n)
    throw new ApiError('invalid_state', 'Money of the order goes back or has: cancel its refunds, or leave it as it is.')
}

export const statusOf = (refund: StoredRefund) => refundStatus(toRefund(refund), viewOf(refund))

/** Whether its nonce is unused, and nothing lives that was signed. */
export const awaitsSignature = (refund: StoredRefund): boolean => statusOf(refund) === 'awaiting_signature' && refund.ended === null

/**
 * What of an order's money may go back at most, gross: the platform's fee is the merchant's cost. A plan asks for less because of what came for a period's order
 * that expired, so of that only the surplus may.
 */
export const cameUnits = (order: Order, leftOverUnits: bigint): bigint =>
  order.status === 'expired' && order.subscriptionId !== null ? leftOverUnits : order.confirmedUnits

/** The part of it that the order does not take. */
export const surplusUnits = (came: bigint, leftOverUnits: bigint): bigint => (leftOverUnits < came ? leftOverUnits : came)

export const feeUnitsOf = (order: Order): bigint => order.confirmedUnits - receivedUnits(order)

/** Why nothing of an order may go back now; null where something may. */
export function refusalOfReturn({ status }: Pick<Order, 'status'>): string | null {
  if (status === 'paid' || status === 'expired' || status === 'cancelled') return null
  return 'The order is still open: what came for it counts, and more may come. It can be returned once the order is paid or has expired.'
}

/**
 * The one address that signed all that came, by payments that the relayer submitted: their payer has its key. Null where anything came in another way: the
 * sender of a plain transfer may be an exchange, and what calls the router may be a contract. A contract that signed need not stand on another network.
 */
export function provenPayer(authorizations: readonly Authorization[], payments: readonly Payment[], chainId: number): string | null {
  const [first, ...others] = confirmedPayments(payments)
  if (first?.kind !== 'router' || others.length > 0 || !isOfChain(first, chainId)) return null
  return authorizations.some(({ status, txHash }) => status === 'paid' && txHash === first.txHash) ? first.payerAddress : null
}

/** Throws `invalid_request` with the reason where nobody named who gets it and nothing proves it. */
export function requirePayee(named: string | undefined, proven: string | null): string {
  const payee = named ?? proven
  if (payee !== null) return payee
  throw invalidField(
    'payee_address',
    'must name who gets the money: the payer did not sign the payment, and the sender of a transfer may be an exchange or a contract, where money that comes back is lost; ask the payer for an address of their own',
  )
}

const seenOnly = (validBefore: Date, seenAt: Date): StoredSignature => ({ validBefore, signature: null, seenAt })

/** The statement of the listener taken in; null when a later one has been. A time that is not believed is not taken. */
export function observe(refund: StoredRefund, stated: RefundObserved, isBelieved: boolean, at: Date): StoredRefund | null {
  const isOlder =
    refund.generation !== null &&
    (stated.generation < refund.generation || (stated.generation === refund.generation && stated.revision <= refund.revision))
  if (isOlder || stated.nonce !== refund.nonce) return null
  const { end } = stated
  // A signature that moved money and was taken back by a reorganisation may do so again, and its end is not known.
  const moved = end?.kind === 'transferred' ? [seenOnly(NO_END, at)] : []
  // One that was brought here and that this database has lost since.
  const brought = stated.valid_before === null ? [] : [seenOnly(new Date(stated.valid_before * 1_000), at)]
  const isNew = ({ validBefore }: StoredSignature) =>
    refund.signatures.every(known => known.validBefore.getTime() !== validBefore.getTime())
  return {
    ...refund,
    generation: stated.generation,
    revision: stated.revision,
    knownAt: end === null && isUnwatched(refund, stated) ? null : at,
    ...(isBelieved ? { knownBlock: BigInt(stated.block_number), knownTime: new Date(stated.block_time) } : {}),
    walletUnits: stated.wallet_balance === null ? refund.walletUnits : parseUsdc(stated.wallet_balance),
    ended: end?.kind ?? null,
    txHash: end?.tx_hash ?? null,
    logIndex: end?.log_index ?? null,
    blockNumber: end ? BigInt(end.block_number) : null,
    blockTime: end ? new Date(end.block_time) : null,
    signatures: [...refund.signatures, ...[...moved, ...brought].filter(isNew)],
  }
}

/** Something was signed that the listener does not watch: it was put back, or a wallet's own transaction was undone. It is asked again at once, not when it was not heard of for long. */
const isUnwatched = ({ signatures }: StoredRefund, { valid_before }: RefundObserved): boolean =>
  signatures.length > 0 && (valid_before ?? 0) < (latestEnd({ signatures }) ?? Number.POSITIVE_INFINITY)

/** A refund that this database has lost, as the listener still knows it: its signature may live. */
export function recovered(stated: RefundObserved, { merchantId }: Order, at: Date): StoredRefund {
  return {
    ...UNOBSERVED,
    id: stated.refund_id,
    orderId: stated.order_id,
    merchantId,
    chainId: stated.chain_id,
    units: parseUsdc(stated.amount),
    payee: stated.payee_address,
    fromAddress: stated.from_address,
    nonce: stated.nonce,
    watchFrom: BigInt(stated.watch_from),
    reason: 'Recovered from the listener’s books',
    requestedBy: null,
    createdAt: at,
  }
}

/** The latest end of what was signed, in Unix seconds; null where nothing was, or it has none. */
export const latestEnd = ({ signatures }: Pick<StoredRefund, 'signatures'>): number | null =>
  signatures
    .filter(({ validBefore }) => validBefore.getTime() !== NO_END.getTime())
    .reduce<number | null>((latest, { validBefore }) => Math.max(latest ?? 0, Math.floor(validBefore.getTime() / 1_000)), null)

export const refundWatch = (refunds: readonly StoredRefund[], chainId: number): NewEvent => ({
  type: 'refund.watch',
  data: { chain_id: chainId, refunds: refunds.map(watched) },
})

const watched = (refund: StoredRefund): RefundWatch['refunds'][number] => ({
  refund_id: refund.id,
  order_id: refund.orderId,
  from_address: refund.fromAddress,
  payee_address: refund.payee,
  amount: formatUsdc(refund.units),
  nonce: refund.nonce,
  watch_from: Number(refund.watchFrom),
  ...submittable(refund),
})

/** The signature to submit: the one of the same terms with the latest expiry. */
function submittable({ signatures, cancelledAt }: StoredRefund) {
  const validBefore = latestEnd({ signatures })
  const last = signatures.find(({ validBefore: end, signature }) => signature !== null && end.getTime() / 1_000 === validBefore)
  const isWithdrawn = cancelledAt !== null
  return { valid_before: validBefore, signature: isWithdrawn ? null : (last?.signature ?? null), is_withdrawn: isWithdrawn }
}

const lives = (refund: StoredRefund): boolean => toRefund(refund).signatures.some(signature => isAlive(signature, viewOf(refund)))

/** Events for the merchant. A transfer that a reorganisation takes away is confirmed once more when it is mined again. */
export function refundEvents(before: StoredRefund | null, refund: StoredRefund, order: Order, at: Date): NewEvent[] {
  const { id, orderId, units, payee, ended, txHash, blockTime } = refund
  const data = { id, order_id: orderId, external_ref: order.externalRef, amount: formatUsdc(units), payee_address: payee }
  const of = { ...ownerOf(order), subscription_id: order.subscriptionId }
  if (before === null) return [{ type: 'refund.created', data: { ...of, refund: data } }]
  if (ended === 'transferred' && txHash !== null && blockTime !== null) {
    const confirmed = { ...data, tx_hash: txHash, confirmed_at: blockTime.toISOString() }
    return before.ended === ended ? [] : [{ type: 'refund.confirmed', data: { ...of, refund: confirmed } }]
  }
  if (!lives(before) || lives(refund)) return []
  const failure_code = ended === 'cancelled' ? ('authorization_cancelled' as const) : ('authorization_expired' as const)
  return [{ type: 'refund.failed', data: { ...of, refund: { ...data, failure_code, failed_at: at.toISOString() } } }]
}
