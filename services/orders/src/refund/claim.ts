import { ApiError, formatUsdc, parseUsdc, type RefundClaimStatusName } from '@ponte/contracts'
import { confirmedPayments, type Payment, sumUnits } from '../payment/payment'

/** A link by which the payer of an order names the address that money goes back to. It promises nothing: the refund that it becomes does. */
export interface RefundClaim {
  id: string
  orderId: string
  merchantId: string
  payerToken: string
  units: bigint
  reason: string
  requestedBy: string | null
  createdAt: Date
  expiresAt: Date
  cancelledAt: Date | null
  claimedAt: Date | null
  /** The payment that the payer named as theirs. */
  txHash: string | null
  refundId: string | null
  /** Given by the merchant; null once the claim is over. */
  email: string | null
  /** Stays when the address is forgotten. */
  wantsCode: boolean
  /** Of the code that was mailed last. */
  codeHash: string | null
  codeIssuedAt: Date | null
  codesIssued: number
  /** With the code that was mailed last. */
  codeTries: number
}

const LIFE_MS = 30 * 86_400_000
/** All of an order, ended ones too: an answer lists them. */
const OF_AN_ORDER_MAX = 20

type Asked = Pick<RefundClaim, 'id' | 'orderId' | 'merchantId' | 'payerToken' | 'units' | 'reason' | 'requestedBy' | 'email'>

export function claimStatus({ cancelledAt, refundId, expiresAt }: RefundClaim, at: Date): RefundClaimStatusName {
  if (refundId !== null) return 'claimed'
  if (cancelledAt !== null) return 'cancelled'
  return at < expiresAt ? 'open' : 'expired'
}

/** Throws `invalid_state` while another one of the order is open. */
export function openClaim(asked: Asked, others: readonly RefundClaim[], at: Date): RefundClaim {
  if (others.some(other => claimStatus(other, at) === 'open'))
    throw new ApiError('invalid_state', 'The order has a link that takes an address: send that one, or end it first.')
  if (others.length >= OF_AN_ORDER_MAX) throw new ApiError('invalid_state', `An order has at most ${OF_AN_ORDER_MAX} links.`)
  return {
    ...asked,
    createdAt: at,
    expiresAt: new Date(at.getTime() + LIFE_MS),
    cancelledAt: null,
    claimedAt: null,
    txHash: null,
    refundId: null,
    wantsCode: asked.email !== null,
    codeHash: null,
    codeIssuedAt: null,
    codesIssued: 0,
    codeTries: 0,
  }
}

/** A code is good for one naming, and an address for no longer than it is needed. */
const FORGOTTEN = { email: null, codeHash: null }

/** Throws `invalid_state` where the link takes no address any more. */
export function takeClaim(claim: RefundClaim, txHash: string, refundId: string, at: Date): RefundClaim {
  if (claimStatus(claim, at) !== 'open')
    throw new ApiError('invalid_state', 'This link takes no address any more: ask the shop for another one.')
  return { ...claim, ...FORGOTTEN, claimedAt: at, txHash, refundId }
}

/** Throws `invalid_state` once the payer has named an address. */
export function cancelClaim(claim: RefundClaim, at: Date): RefundClaim {
  if (claim.refundId !== null)
    throw new ApiError('invalid_state', 'The payer has named an address: cancel the refund that waits for your signature.')
  return claim.cancelledAt === null ? { ...claim, ...FORGOTTEN, cancelledAt: at } : claim
}

/**
 * Whether a payer knows a payment of the order. All of it stands on the chain, so that it proves no more than that a link has reached who paid this order and not
 * another one.
 */
export const isKnownPayment = (payments: readonly Payment[], { tx_hash, amount }: { tx_hash: string; amount: string }): boolean => {
  const named = confirmedPayments(payments).filter(({ txHash }) => txHash === tx_hash)
  return named.length > 0 && [sumUnits(named), ...named.map(({ grossUnits }) => grossUnits)].includes(parseUsdc(amount))
}

/** In lists its link and its mail address are not shown: `url` is null. */
export const claimBody = (claim: RefundClaim, at: Date, url: string | null) => ({
  object: 'refund_claim' as const,
  id: claim.id,
  order_id: claim.orderId,
  status: claimStatus(claim, at),
  amount: formatUsdc(claim.units),
  reason: claim.reason,
  url: claimStatus(claim, at) === 'open' ? url : null,
  email: claimStatus(claim, at) === 'open' && url !== null ? claim.email : null,
  requested_by: claim.requestedBy,
  created_at: claim.createdAt.toISOString(),
  expires_at: claim.expiresAt.toISOString(),
  claimed_at: claim.claimedAt?.toISOString() ?? null,
  tx_hash: claim.txHash,
  refund_id: claim.refundId,
  cancelled_at: claim.cancelledAt?.toISOString() ?? null,
})
