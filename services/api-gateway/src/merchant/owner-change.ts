import { ApiError, type Role } from '@ponte/contracts'
import type { Member } from './member'

/** A member who is to become an owner, or an owner who is to become something else, or to go. It waits, so that every owner of before can undo it. */
export interface OwnerChange {
  id: string
  memberId: string
  /** Null when the member is removed. */
  role: Role | null
  requestedBy: string
  requestedAt: Date
  activatesAt: Date
  /** The users who were owners when it was requested: they can undo it, whatever becomes of them meanwhile. */
  owners: readonly string[]
  /** The named API keys that the member made stay. */
  keepsKeys: boolean
  /** The owner whom it puts out objected: without another owner who confirms it, it ends without effect. */
  objectedAt: Date | null
  /** The other owner who confirmed it: the one whom it puts out cannot stop it alone any more. */
  confirmedBy: string | null
}

/** Facts of a merchant that decide on its owners. */
export interface Ownership {
  ownerChanges: readonly OwnerChange[]
  /** No change of the payout address is in force before, because the owners have changed. */
  payoutHeldUntil: Date | null
  /** An operator has stopped every change of owners, payout address and endpoints. */
  frozenAt: Date | null
}

/** Waits of a change of the owners, and of the payout address after one. */
export interface OwnerGuard {
  ownerDelayMs: number
  payoutHoldMs: number
}

export interface MemberRequest {
  /** Of the change, if it has to wait. */
  id: string
  userId: string
  at: Date
  keepsKeys: boolean
}

/** At once `put` or `removed`, or the changes of owners that wait afterwards. */
export interface MemberDecision {
  put?: Member
  removed?: Member
  ownerChanges?: readonly OwnerChange[]
}

export const ownersAmong = (members: readonly Member[]): string[] =>
  members.filter(({ role }) => role === 'owner').map(({ userId }) => userId)

/**
 * Gives a member another role, or removes them (null). What makes an owner, or unmakes one, waits. Throws `not_found`, or `invalid_state` when no owner
 * would be left, or when a change of this member waits already.
 */
export function decideMember(
  members: readonly Member[],
  ownership: Ownership,
  id: string,
  role: Role | null,
  request: MemberRequest,
  guard: OwnerGuard,
): MemberDecision {
  requireNotFrozen(ownership)
  const member = members.find(other => other.id === id)
  if (!member) throw new ApiError('not_found', 'Your merchant has no such member.')
  // Else an owner whom the others put out would keep a change of their own waiting, which leaves no room for another.
  const isOwnWish = (change: OwnerChange) => change.requestedBy === member.userId && request.userId !== member.userId
  const others = ownership.ownerChanges.filter(change => change.memberId !== id || !isOwnWish(change))
  if (others.some(({ memberId }) => memberId === id))
    throw new ApiError('invalid_state', 'A change of this member waits already; cancel it first.')
  const isOwner = member.role === 'owner'
  if (isOwner === (role === 'owner')) return effectOf(member, role)
  const leaving = new Set([id, ...others.filter(change => change.role !== 'owner').map(({ memberId }) => memberId)])
  if (isOwner) keepOwner(members, leaving)
  if (guard.ownerDelayMs === 0) return effectOf(member, role)
  const { at, userId, keepsKeys } = request
  const undecided = { owners: ownersAmong(members), objectedAt: null, confirmedBy: null }
  const change = { id: request.id, memberId: id, role, requestedBy: userId, requestedAt: at, keepsKeys, ...undecided }
  return { ownerChanges: [...others, { ...change, activatesAt: new Date(at.getTime() + guard.ownerDelayMs) }] }
}

/** A future owner is a viewer until the owners of before have had their time. */
export function joinTeam(
  members: readonly Member[],
  ownership: Ownership,
  joining: Member,
  request: MemberRequest,
  guard: OwnerGuard,
): MemberDecision {
  if (joining.role !== 'owner') return { put: joining }
  const viewer = { ...joining, role: 'viewer' }
  const { put = viewer, ...rest } = decideMember([...members, viewer], ownership, joining.id, 'owner', request, guard)
  return { put, ...rest }
}

/**
 * Changes that wait after this owner of before has undone one. The owner whom it puts out undoes it alone only where no other could confirm it; else they object,
 * and it waits for that one. Throws `not_found`, or `forbidden` for who was no owner when it was requested, and for who is put out by what another owner confirmed.
 */
export function undoOwnerChange(
  members: readonly Member[],
  { ownerChanges }: Ownership,
  id: string,
  { userId, at }: Pick<MemberRequest, 'userId' | 'at'>,
): readonly OwnerChange[] {
  const change = waitingOwnerChange(ownerChanges, id)
  if (!change.owners.includes(userId)) throw new ApiError('forbidden', 'Who was an owner when it was requested may cancel this.')
  const isPutOut = members.some(member => member.id === change.memberId && member.userId === userId) && change.requestedBy !== userId
  if (isPutOut && change.confirmedBy !== null)
    throw new ApiError(
      'forbidden',
      'Another owner has confirmed this; any owner of before but you may cancel it. Write to us if they are wrong.',
    )
  const isContested = isPutOut && members.some(member => mayConfirm(members, change, member.userId))
  if (!isContested) return ownerChanges.filter(other => other !== change)
  if (change.objectedAt !== null) return ownerChanges
  return ownerChanges.map(other => (other === change ? { ...change, objectedAt: at } : other))
}

/**
 * Changes that wait after an owner has confirmed one that demotes or removes another. It waits its whole time again, so that every other owner of before can cancel
 * it. Throws `not_found`, or `forbidden` for who requested it, whom it puts out, or who was no owner when it was requested.
 */
export function confirmOwnerChange(
  members: readonly Member[],
  ownership: Ownership,
  id: string,
  { userId, at }: Pick<MemberRequest, 'userId' | 'at'>,
  guard: OwnerGuard,
): readonly OwnerChange[] {
  requireNotFrozen(ownership)
  const { ownerChanges } = ownership
  const change = waitingOwnerChange(ownerChanges, id)
  if (!mayConfirm(members, change, userId))
    throw new ApiError('forbidden', 'An owner confirms this who was one when another requested it, and whom it does not put out.')
  const activatesAt = new Date(at.getTime() + guard.ownerDelayMs)
  return ownerChanges.map(other => (other === change ? { ...change, confirmedBy: userId, activatesAt } : other))
}

/** Whether this owner can confirm the change: a third one beside who requested it and whom it puts out. */
export function mayConfirm(members: readonly Member[], change: OwnerChange, userId: string): boolean {
  const { memberId, role, requestedBy, owners, confirmedBy } = change
  const member = members.find(other => other.userId === userId)
  const isThird = userId !== requestedBy && member?.id !== memberId
  return role !== 'owner' && confirmedBy === null && isThird && member?.role === 'owner' && owners.includes(userId)
}

function waitingOwnerChange(ownerChanges: readonly OwnerChange[], id: string): OwnerChange {
  const change = ownerChanges.find(other => other.id === id)
  if (!change) throw new ApiError('not_found', 'No such change is waiting; look at the changes again.')
  return change
}

/** The first change whose time has come, with its effect; null when there is none. One that would leave no owner, whose member has gone, or that was objected to and not confirmed has none. */
export function activateOwnerChange(members: readonly Member[], { ownerChanges, frozenAt }: Ownership, at: Date) {
  const [change] = ownerChanges
    .filter(({ activatesAt }) => activatesAt <= at)
    .toSorted((a, b) => a.activatesAt.getTime() - b.activatesAt.getTime())
  if (!change || frozenAt) return null
  const member = members.find(({ id }) => id === change.memberId)
  const isLast = member?.role === 'owner' && ownersAmong(members).length === 1
  const isContested = change.objectedAt !== null && change.confirmedBy === null
  const effect: MemberDecision = member && !isLast && !isContested ? effectOf(member, change.role) : {}
  return { change, effect, ownerChanges: ownerChanges.filter(other => other !== change) }
}

/** Stops what waits, or lets it wait anew, so that the owners have their whole time after an operator has looked. */
export function frozen<T extends Ownership>(merchant: T, isFrozen: boolean, at: Date, guard: OwnerGuard): T {
  if (isFrozen === (merchant.frozenAt !== null)) return merchant
  return isFrozen ? { ...merchant, frozenAt: at } : { ...waitingAnew(merchant, at, guard), frozenAt: null }
}

/** Everything that waits has its whole time before it again. */
export function waitingAnew<T extends Ownership>(merchant: T, at: Date, guard: OwnerGuard): T {
  const waited = new Date(at.getTime() + guard.ownerDelayMs)
  const ownerChanges = merchant.ownerChanges.map(change => ({ ...change, activatesAt: waited }))
  return { ...merchant, ownerChanges, payoutHeldUntil: new Date(at.getTime() + guard.payoutHoldMs) }
}

/** Throws `invalid_state` for a merchant that an operator has frozen. */
export function requireNotFrozen({ frozenAt }: Pick<Ownership, 'frozenAt'>): void {
  if (frozenAt)
    throw new ApiError('invalid_state', 'An operator has frozen this account: orders go on, and nothing of it changes. Write to them.')
}

function effectOf(member: Member, role: Role | null): MemberDecision {
  return role === null ? { removed: member } : { put: { ...member, role } }
}

function keepOwner(members: readonly Member[], leaving: ReadonlySet<string>): void {
  if (!members.some(({ id, role }) => role === 'owner' && !leaving.has(id)))
    throw new ApiError('invalid_state', 'A merchant needs an owner; make another member one first.')
}
