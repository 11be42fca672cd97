import { ApiError } from '@ponte/contracts'
import { type OwnerGuard, type Ownership, requireNotFrozen } from './owner-change'

/** A change of the payout address that waits. Orders keep the address that they were opened with. */
export interface PayoutChange {
  id: string
  /** The network that it is for; null for all but those for which another address is named. */
  chainId: number | null
  address: string
  isContract: boolean
  requestedBy: string
  requestedAt: Date
  /** The key of the new address signed this very change. */
  isSigned: boolean
  /** Null also where a replica of the release before took the signature. */
  proof: PayoutProof | null
  /** The other owner who agreed. */
  approvedBy: string | null
  /** The users who were owners when it was requested: they can see and cancel it, whatever becomes of them meanwhile. */
  owners: readonly string[]
  activatesAt: Date
}

/** A text that the key of a payout address signed for this merchant (EIP-191): evidence for third parties, which decides nothing here. */
export interface PayoutProof {
  address: string
  message: string
  signature: string
  signedAt: Date
}

export interface Payout extends Ownership {
  payoutAddress: string | null
  /** Other addresses, by the number of the network that they are for; null where none was ever named. */
  payoutAddresses: Readonly<Record<string, string>> | null
  /** Of the address in force. */
  payoutProof: PayoutProof | null
  /** A contract stood there when it was set. */
  payoutIsContract: boolean
  /** In force when it was cleared; null before the first time. */
  clearedPayoutAddress: string | null
  pendingPayout: PayoutChange | null
}

/** Waits of a change that the new address signed or another owner approved, and of any other. */
export interface PayoutGuard extends OwnerGuard {
  delayMs: number
  unsignedDelayMs: number
}

export interface PayoutRequest {
  /** Of the change, if it has to wait. */
  id: string
  userId: string
  at: Date
  owners: readonly string[]
  /** The merchant is younger than a signed change waits. */
  isNew: boolean
}

/**
 * Sets, changes or clears the payout address. A new merchant's first one, and the one that was cleared, are in force at once, and so is none at all; another
 * one waits, so that a stolen session cannot redirect what payers pay. The one in force withdraws what waits.
 */
export function requestPayout(payout: Payout, address: string | null, request: PayoutRequest, guard: PayoutGuard): Payout {
  const { payoutAddress: current, clearedPayoutAddress: cleared, pendingPayout: pending } = payout
  if (address === current) return pending?.chainId === null ? { ...payout, pendingPayout: null } : payout
  if (address !== null && isWaitingFor(payout, null, address)) return payout
  requireNotFrozen(payout)
  if (address === null)
    return {
      ...payout,
      payoutAddress: null,
      payoutProof: null,
      payoutIsContract: false,
      clearedPayoutAddress: current,
      pendingPayout: null,
    }
  const isFirst = current === null && cleared === null && request.isNew
  if (isFirst || (current === null && address === cleared))
    return { ...payout, payoutAddress: address, payoutProof: null, pendingPayout: null }
  return begun(payout, { chainId: null, address }, request, guard)
}

/**
 * Names another address for one network, or with null none any more, which is to say that of all others. Both wait as a change of that one does, the first time too.
 * Throws `payout_address_required` without one for all others.
 */
export function requestPayoutOn(payout: Payout, chainId: number, asked: string | null, request: PayoutRequest, guard: PayoutGuard): Payout {
  const { payoutAddress: all, payoutAddresses: own, pendingPayout: pending } = payout
  if (all === null) throw new ApiError('payout_address_required', 'Set payout_address first: it is that of all other networks.')
  const address = asked ?? all
  if (address === (own?.[chainId] ?? all)) return pending?.chainId === chainId ? { ...payout, pendingPayout: null } : payout
  if (isWaitingFor(payout, chainId, address)) return payout
  requireNotFrozen(payout)
  return begun(payout, { chainId, address }, request, guard)
}

const isWaitingFor = ({ pendingPayout: pending }: Payout, chainId: number | null, address: string): boolean =>
  pending?.chainId === chainId && pending.address === address

/** Takes the place of one that waits for the same. Throws `invalid_state` where one for another network waits. */
function begun(
  payout: Payout,
  asked: Pick<PayoutChange, 'chainId' | 'address'>,
  { id, userId, at, owners }: PayoutRequest,
  guard: PayoutGuard,
): Payout {
  if (payout.pendingPayout && payout.pendingPayout.chainId !== asked.chainId)
    throw new ApiError('invalid_state', 'A change of the payout address of other networks waits: cancel it, or wait for it.')
  const change = {
    id,
    ...asked,
    isContract: false,
    requestedBy: userId,
    requestedAt: at,
    isSigned: false,
    proof: null,
    approvedBy: null,
    owners,
  }
  return timed(payout, change, at, guard)
}

/** Brings a change forward, because the key of its address signed it; one that is signed already is the same. Throws `not_found` when it does not wait any more. */
export function signPayout(payout: Payout, id: string, { message, signature, at }: SignedText, guard: PayoutGuard): Payout {
  const change = waiting(payout, id)
  if (change.isSigned && change.proof) return activatePayout(payout, at)
  const proof = { address: change.address, message, signature, signedAt: at }
  return timed(payout, { ...change, isSigned: true, proof }, at, guard)
}

export interface SignedText {
  message: string
  signature: string
  at: Date
}

/** Keeps what the key of the address in force signed; the first signature stands. */
export function provePayout<T extends Payout>(payout: T, { message, signature, at }: SignedText): T {
  const { payoutAddress: address, payoutProof: known } = payout
  return known || address === null ? payout : { ...payout, payoutProof: { address, message, signature, signedAt: at } }
}

/**
 * Takes the agreement of another owner, which is worth a signature: a contract has no key to sign by. It ends no wait, because an owner who turned bad and a
 * stolen session of another are two as well. Throws `invalid_state` for who requested it, and for who became an owner within the delay, or `not_found` when it
 * does not wait any more.
 */
export function approvePayout(payout: Payout, id: string, owner: { userId: string; since: Date; at: Date }, guard: PayoutGuard): Payout {
  const change = waiting(payout, id)
  if (owner.userId === change.requestedBy) throw new ApiError('invalid_state', 'Another owner has to approve what you requested.')
  if (owner.at.getTime() - owner.since.getTime() < guard.delayMs)
    throw new ApiError('invalid_state', 'You have been an owner for less time than a change of the payout address waits.')
  if (change.approvedBy === owner.userId) return activatePayout(payout, owner.at)
  return timed(payout, { ...change, approvedBy: owner.userId }, owner.at, guard)
}

export function cancelPayout(payout: Payout, id: string): Payout {
  waiting(payout, id)
  return { ...payout, pendingPayout: null }
}

/** A change of the payout address is not in force before the owners' waiting changes are settled and their time has passed. */
export function retimed(payout: Payout, guard: PayoutGuard): PayoutChange | null {
  const { pendingPayout: change } = payout
  return change && { ...change, activatesAt: activationOf(payout, change, guard) }
}

/** Without this user's part: their request is withdrawn, and their approval does not count. */
export function payoutWithoutUser<T extends Payout>(payout: T, userId: string): T {
  const { pendingPayout: change } = payout
  if (change?.requestedBy === userId) return { ...payout, pendingPayout: null }
  return change?.approvedBy === userId ? { ...payout, pendingPayout: { ...change, approvedBy: null } } : payout
}

/** Puts a change in force whose time has come, unless a change of the owners waits, or an operator stopped it. */
export function activatePayout(payout: Payout, at: Date): Payout {
  const { pendingPayout: change, ownerChanges, payoutHeldUntil, frozenAt } = payout
  if (!change || change.activatesAt > at || ownerChanges.length > 0 || frozenAt) return payout
  const { chainId, address, proof, isContract } = change
  if (chainId !== null) {
    // A replica of the release before does not hold it.
    if (payoutHeldUntil && payoutHeldUntil > at) return payout
    return { ...payout, payoutAddresses: namedOn(payout, chainId, address), pendingPayout: null }
  }
  return { ...payout, payoutAddress: address, payoutProof: proof, payoutIsContract: isContract, pendingPayout: null }
}

/** That of all other networks is none of its own. */
function namedOn({ payoutAddress, payoutAddresses }: Payout, chainId: number, address: string): Record<string, string> {
  const { [chainId]: _, ...others } = payoutAddresses ?? {}
  return address === payoutAddress ? others : { ...others, [chainId]: address }
}

/** The change that waits under this id: what was looked at, not what took its place meanwhile. */
export function waiting({ pendingPayout: change }: Payout, id: string): PayoutChange {
  if (change?.id !== id) throw new ApiError('not_found', 'No such change of the payout address is waiting; look at the merchant again.')
  return change
}

/** Signed by the key of the new address. It names the change, so that a signature is good for this one alone. */
export const payoutMessage = (merchantId: string, { id, chainId, address, requestedAt }: PayoutChange): string =>
  [
    'Ponte: pay my orders out to this address.',
    `Address: ${address}`,
    ...(chainId === null ? [] : [`Network: ${chainId}`]),
    `Merchant: ${merchantId}`,
    `Change: ${id}`,
    `Requested: ${requestedAt.toISOString()}`,
  ].join('\n')

/** Signed by the key of the address in force. It names no change, so that it is good for none. */
export const payoutAddressMessage = (merchantId: string, address: string): string =>
  ['Ponte: my orders are paid out to this address.', `Address: ${address}`, `Merchant: ${merchantId}`].join('\n')

type Untimed = Omit<PayoutChange, 'activatesAt'>
const timed = (payout: Payout, change: Untimed, at: Date, guard: PayoutGuard): Payout =>
  activatePayout({ ...payout, pendingPayout: { ...change, activatesAt: activationOf(payout, change, guard) } }, at)

function activationOf(
  { ownerChanges, payoutHeldUntil }: Ownership,
  { requestedAt, isSigned, approvedBy }: Untimed,
  guard: PayoutGuard,
): Date {
  const waits = isSigned || approvedBy !== null ? guard.delayMs : Math.max(guard.delayMs, guard.unsignedDelayMs)
  const held = ownerChanges.map(({ activatesAt }) => activatesAt.getTime() + guard.payoutHoldMs)
  return new Date(Math.max(requestedAt.getTime() + waits, payoutHeldUntil?.getTime() ?? 0, ...held))
}
