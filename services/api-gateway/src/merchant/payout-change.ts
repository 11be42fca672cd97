import { ApiError } from '@ponte/contracts'

/** A change of the payout address that waits. Orders keep the address that they were opened with. */
export interface PayoutChange {
  id: string
  address: string
  isContract: boolean
  requestedBy: string
  requestedAt: Date
  /** The key of the new address signed this very change. */
  isSigned: boolean
  /** The other owner who agreed. */
  approvedBy: string | null
  activatesAt: Date
}

/** Where a merchant is paid. */
export interface Payout {
  payoutAddress: string | null
  /** A contract stood there when it was set. */
  payoutIsContract: boolean
  /** What was in force when it was cleared; null before the first time. */
  clearedPayoutAddress: string | null
  pendingPayout: PayoutChange | null
}

/** How long a change waits: with a signature of the new address, and without one. */
export interface PayoutGuard {
  delayMs: number
  unsignedDelayMs: number
}

export interface PayoutRequest {
  /** Of the change, if it has to wait. */
  id: string
  userId: string
  at: Date
  /** The user has logged in a moment ago. */
  isFresh: boolean
}

/**
 * Sets, changes or clears the payout address. The first one, and the one that was cleared, are in force at once, and so is none at all; another one
 * waits, so that a stolen session cannot redirect what payers pay. The one in force withdraws what waits. Throws `fresh_login_required` for all but
 * the first one and the one in force.
 */
export function requestPayout(payout: Payout, address: string | null, request: PayoutRequest, guard: PayoutGuard): Payout {
  const { payoutAddress: current, clearedPayoutAddress: cleared, pendingPayout: pending } = payout
  if (address === current) return pending ? { ...payout, pendingPayout: null } : payout
  if (address !== null && address === pending?.address) return payout
  const isFirst = current === null && cleared === null
  if (!isFirst && !request.isFresh)
    throw new ApiError('fresh_login_required', 'Log in again, then change payout_address within a few minutes.')
  if (address === null) return { payoutAddress: null, payoutIsContract: false, clearedPayoutAddress: current, pendingPayout: null }
  if (isFirst || (current === null && address === cleared)) return { ...payout, payoutAddress: address, pendingPayout: null }
  const { id, userId, at } = request
  const change = { id, address, isContract: false, requestedBy: userId, requestedAt: at, isSigned: false, approvedBy: null }
  return activatePayout({ ...payout, pendingPayout: { ...change, activatesAt: activationOf(change, guard) } }, at)
}

/** Brings a change forward, because the key of its address signed it. Throws `not_found` when it does not wait any more. */
export function signPayout(payout: Payout, id: string, at: Date, guard: PayoutGuard): Payout {
  const signed = { ...waiting(payout, id), isSigned: true }
  return activatePayout({ ...payout, pendingPayout: { ...signed, activatesAt: activationOf(signed, guard) } }, at)
}

/**
 * Takes the agreement of another owner: what the new address signed need not wait any more. Who became an owner within the delay does not count, so that
 * a stolen session cannot make the owner who agrees. Throws `invalid_state`, or `not_found` when it does not wait any more.
 */
export function approvePayout(payout: Payout, id: string, owner: { userId: string; since: Date; at: Date }, guard: PayoutGuard): Payout {
  const change = waiting(payout, id)
  if (owner.userId === change.requestedBy) throw new ApiError('invalid_state', 'Another owner has to approve what you requested.')
  if (owner.at.getTime() - owner.since.getTime() < guard.delayMs)
    throw new ApiError('invalid_state', 'You have been an owner for less time than a change of the payout address waits.')
  const approved = { ...change, approvedBy: owner.userId }
  return activatePayout({ ...payout, pendingPayout: { ...approved, activatesAt: activationOf(approved, guard) } }, owner.at)
}

/** Withdraws a change. Throws `not_found` when it does not wait any more. */
export function cancelPayout(payout: Payout, id: string): Payout {
  waiting(payout, id)
  return { ...payout, pendingPayout: null }
}

/** What is left when this user may not change it any more: what they requested is withdrawn, and what they approved is not approved. */
export function payoutWithoutUser(payout: Payout, userId: string, guard: PayoutGuard): Payout {
  const { pendingPayout: change } = payout
  if (change?.requestedBy === userId) return { ...payout, pendingPayout: null }
  if (change?.approvedBy !== userId) return payout
  const unapproved = { ...change, approvedBy: null }
  return { ...payout, pendingPayout: { ...unapproved, activatesAt: activationOf(unapproved, guard) } }
}

/** Puts a change in force whose time has come. */
export function activatePayout(payout: Payout, at: Date): Payout {
  const { pendingPayout: change } = payout
  if (!change || change.activatesAt > at) return payout
  return { ...payout, payoutAddress: change.address, payoutIsContract: change.isContract, pendingPayout: null }
}

/** The change that waits under this id: what was looked at, not what took its place meanwhile. */
export function waiting({ pendingPayout: change }: Payout, id: string): PayoutChange {
  if (change?.id !== id) throw new ApiError('not_found', 'No such change of the payout address is waiting; look at the merchant again.')
  return change
}

/** What the key of the new address signs. It names the change, so that a signature is good for this one alone. */
export const payoutMessage = (merchantId: string, { id, address, requestedAt }: PayoutChange): string =>
  [
    'Ponte: pay my orders out to this address.',
    `Address: ${address}`,
    `Merchant: ${merchantId}`,
    `Change: ${id}`,
    `Requested: ${requestedAt.toISOString()}`,
  ].join('\n')

const activationOf = ({ requestedAt, isSigned, approvedBy }: Omit<PayoutChange, 'activatesAt'>, guard: PayoutGuard): Date => {
  const signedMs = approvedBy === null ? guard.delayMs : 0
  return new Date(requestedAt.getTime() + (isSigned ? signedMs : Math.max(guard.delayMs, guard.unsignedDelayMs)))
}
