import { ApiError } from '@ponte/contracts'
import { refundNonce } from '../chain/refund-nonce'
import type { ChainView } from '../order/verdict'

/** A `transferWithAuthorization` that the merchant's wallet signed. Once seen it can be submitted by anyone who has it. */
export interface RefundSignature {
  nonce: string
  payee: string
  units: bigint
  /** The token refuses it from this block time on. */
  validBefore: Date
}

/** Money that is to go back from the merchant's wallet, as the commands made it. */
export interface Refund {
  id: string
  units: bigint
  /** Null until the payer has named an address that the merchant agrees to. */
  payee: string | null
  cancelledAt: Date | null
  /** Every one that was ever seen; none is forgotten. */
  signatures: readonly RefundSignature[]
}

/** The state of a nonce on the chain. The token's `authorizationState` is true for both ends, so the event decides. */
export interface NonceFact {
  nonce: string
  end: 'transferred' | 'cancelled'
  isConfirmed: boolean
}

/** Facts beside the commands: the ends of nonces, known up to the confirmed chain time, and that time. */
export interface RefundView {
  facts: readonly NonceFact[]
  chain: ChainView
  /** Balance of the merchant's wallet; null while not known. */
  walletUnits: bigint | null
}

/** `awaiting_funds`: signed, and the wallet holds too little. */
export type RefundStatus = 'awaiting_destination' | 'awaiting_signature' | 'awaiting_funds' | 'submitted' | 'confirmed' | 'cancelled'

const isEnded = ({ nonce }: RefundSignature, end: NonceFact['end'], { facts }: RefundView): boolean =>
  facts.some(fact => fact.nonce === nonce && fact.end === end && fact.isConfirmed)

/**
 * Whether a signature may still move money, as far as the confirmed chain shows. Our clock plays no part: it may be ahead of a slow or halted chain, on
 * which an authorization that seems void is mined after all.
 */
export const isAlive = (signature: RefundSignature, view: RefundView): boolean =>
  !isEnded(signature, 'transferred', view) &&
  !isEnded(signature, 'cancelled', view) &&
  (view.chain.time === null || view.chain.time < signature.validBefore)

const isReturned = ({ signatures }: Refund, view: RefundView): boolean =>
  signatures.some(signature => isEnded(signature, 'transferred', view))

export function refundStatus(refund: Refund, view: RefundView): RefundStatus {
  const { payee, cancelledAt, units, signatures } = refund
  if (isReturned(refund, view)) return 'confirmed'
  // A cancelled one too: a database that went back had forgotten its signature, or a deep reorganisation took back what had ended it.
  if (signatures.some(signature => isAlive(signature, view)))
    return view.walletUnits !== null && view.walletUnits < units ? 'awaiting_funds' : 'submitted'
  if (cancelledAt !== null) return 'cancelled'
  return payee === null ? 'awaiting_destination' : 'awaiting_signature'
}

/** Sums of an order's refunds, done and still possible: a cancelled refund promises nothing while nothing signed for it lives. */
export const promisedUnits = (refunds: readonly Refund[], view: RefundView): bigint =>
  refunds.filter(refund => refundStatus(refund, view) !== 'cancelled').reduce((sum, { units }) => sum + units, 0n)

/** A refund of a part of what came for an order. Throws `invalid_state` when all refunds together would return more than that. */
export function openRefund(
  { id, units, payee }: Pick<Refund, 'id' | 'units' | 'payee'>,
  others: readonly Refund[],
  receivedUnits: bigint,
  view: RefundView,
): Refund {
  if (units <= 0n || promisedUnits(others, view) + units > receivedUnits)
    throw new ApiError('invalid_state', 'All refunds of an order together return no more than came for it.')
  return { id, units, payee, cancelledAt: null, signatures: [] }
}

/** Names another payee. Throws `invalid_state` while anything signed may still move money. */
export const redirectRefund = (refund: Refund, payee: string, view: RefundView): Refund => {
  requireFree(refund, view)
  return { ...refund, payee }
}

/** Takes a refund back. Throws `invalid_state` while anything signed may still move money. */
export const cancelRefund = (refund: Refund, view: RefundView, at: Date): Refund => {
  if (refund.cancelledAt !== null) return refund
  requireFree(refund, view)
  return { ...refund, cancelledAt: at }
}

/** Takes the merchant's signature of exactly these terms. Throws `invalid_state` while an earlier one lives, and when their nonce is used up. */
export function signRefund(refund: Refund, signature: RefundSignature, view: RefundView): Refund {
  requireFree(refund, view)
  const { id, payee, units, signatures } = refund
  if (payee === null || signature.payee !== payee || signature.units !== units || signature.nonce !== refundNonce(id, payee, units))
    throw new ApiError('invalid_state', 'The signature is of other terms than the refund has; load it again.')
  if (isEnded(signature, 'cancelled', view))
    throw new ApiError(
      'invalid_state',
      'The authorization of these terms was cancelled on the chain; cancel this refund and make another one.',
    )
  return { ...refund, signatures: [...signatures, signature] }
}

/** Throws `invalid_state` unless nothing about this refund can happen by itself any more. */
function requireFree(refund: Refund, view: RefundView): void {
  if (refund.cancelledAt !== null) throw new ApiError('invalid_state', 'The refund is cancelled.')
  if (isReturned(refund, view)) throw new ApiError('invalid_state', 'The money has gone back already.')
  if (refund.signatures.some(signature => isAlive(signature, view)))
    throw new ApiError(
      'invalid_state',
      'What was signed may still move the money: cancel the authorization on the chain, or wait until the confirmed chain has passed its end.',
    )
}
