import { type Operation, operationList } from '@ponte/contracts'
import { isStale, isUniqueViolation, retryConflicts } from '@ponte/service-kit'
import { type Member, mayMakeKey, permissionsOf } from '../merchant/member'
import type { Merchant } from '../merchant/merchant'
import { activateOwnerChange, type MemberDecision, ownersAmong } from '../merchant/owner-change'
import { type PayoutGuard, payoutWithoutUser, retimed } from '../merchant/payout-change'
import type { Store } from '../store'
import type { Action, Actor } from '../store/audit-log'
import type { TeamChange } from '../store/members'

/** A request's decision about a team: its members, its owners' waiting changes, its invitations. */
export type TeamDecision = MemberDecision &
  Pick<TeamChange, 'invited' | 'accepted' | 'revoked'> & {
    keepsKeys?: boolean
    /** The id of the waiting change that it decides on. */
    target?: string
  }

export interface TeamDeps {
  store: Store
  now: () => Date
  payoutGuard: PayoutGuard
}

/** Two that join at one moment meet at the merchant's version, or before it at the row of the member. */
const isOtherFirst = (error: unknown) => isStale(error) || isUniqueViolation(error, 'members_merchant_id_user_id_key')

/** Finds, decides, commits. The merchant is read before its members, so that its version reveals any change of them. */
export const commitTeam = <T extends TeamDecision>(
  deps: TeamDeps,
  by: Actor,
  action: Action,
  find: () => Promise<Merchant>,
  decide: (members: Member[], merchant: Merchant) => T | Promise<T>,
): Promise<T & { revokedKeys: { id: string }[]; merchant: Merchant }> =>
  retryConflicts(async () => {
    const merchant = await find()
    const members = await deps.store.members.list(merchant.id)
    const decision = await decide(members, merchant)
    // Such as an invitation that is revoked already: what changes nothing has no audit entry, and informs none.
    if (changesNothing(members, merchant, decision)) return { ...decision, revokedKeys: [], merchant }
    const change = await teamChange(deps, merchant, members, decision)
    await deps.store.members.commit(change, action, changedBy(change, decision), by, targetOf(change, decision))
    return { ...decision, revokedKeys: change.revokedKeys, merchant: change.merchant }
  }, isOtherFirst)

function changesNothing(members: readonly Member[], merchant: Merchant, decision: TeamDecision): boolean {
  const { put, removed, invited, accepted, revoked, ownerChanges = merchant.ownerChanges } = decision
  if (removed || invited || accepted || revoked || ownerChanges !== merchant.ownerChanges) return false
  return !put || members.some(({ id, role }) => id === put.id && role === put.role)
}

/** Puts the changes of owners in force that have waited long enough. Another replica may be first. */
export async function activateOwnerChanges(deps: TeamDeps): Promise<void> {
  for (const merchant of await deps.store.merchants.withDueOwnerChange()) {
    const members = await deps.store.members.list(merchant.id)
    const due = activateOwnerChange(members, merchant, deps.now())
    if (!due) continue
    const { effect, ownerChanges, change } = due
    const decision = { ...effect, ownerChanges, keepsKeys: change.keepsKeys }
    const isOf = effect.put || effect.removed
    const payoutHeldUntil = isOf ? new Date(deps.now().getTime() + deps.payoutGuard.payoutHoldMs) : merchant.payoutHeldUntil
    const written = await teamChange(deps, { ...merchant, payoutHeldUntil }, members, decision)
    await deps.store.members
      .commit(
        written,
        'owner_change.activate',
        changedBy(written, decision),
        { userId: 'ponte', requestId: change.id, network: null },
        change.id,
      )
      .catch(error => {
        if (!isOtherFirst(error)) throw error
      })
  }
}

/** With what else changes: of a user who may not decide on the payout address any more nothing waits, and keys end that they could not make any more. */
async function teamChange(
  { store, now, payoutGuard }: TeamDeps,
  merchant: Merchant,
  members: readonly Member[],
  { put, removed, ownerChanges = merchant.ownerChanges, keepsKeys = false, ...rest }: TeamDecision,
) {
  const moved = { ...merchant, ownerChanges }
  const left = removed ?? (put && !permissionsOf(put.role).includes('payout:write') ? put : undefined)
  const pendingPayout = retimed(left ? payoutWithoutUser(moved, left.userId) : moved, payoutGuard)
  const revokedKeys = keepsKeys ? [] : await keysLostBy(store, members, put, removed)
  const { payoutHeldUntil } = merchant
  return {
    ...rest,
    ...(put ? { put } : {}),
    ...(removed ? { removed } : {}),
    revokedKeys,
    merchant,
    pendingPayout,
    ownerChanges,
    payoutHeldUntil,
    at: now(),
  }
}

/** Named keys of a member who goes, or who could make them until now: those that were to stay once, stay. */
async function keysLostBy(store: Store, members: readonly Member[], put: Member | undefined, removed: Member | undefined) {
  const after = removed ?? put
  const before = members.find(({ id }) => id === after?.id)
  if (!before || !after) return []
  const keys = (await store.namedKeys.list(before.merchantId)).filter(({ createdBy }) => createdBy === before.userId)
  return keys.filter(({ scopes }) => removed || (mayMakeKey(before.role, scopes) && !mayMakeKey(after.role, scopes)))
}

const newlyWaiting = ({ merchant }: TeamChange, { ownerChanges }: TeamDecision) =>
  ownerChanges?.find(({ id }) => !merchant.ownerChanges.some(other => other.id === id))

function targetOf(change: TeamChange, decision: TeamDecision): string | null {
  const { put, removed, invited, revoked, target } = decision
  return target ?? (put ?? removed ?? invited ?? revoked)?.id ?? newlyWaiting(change, decision)?.memberId ?? null
}

function changedBy(change: TeamChange, decision: TeamDecision): string[] {
  const { merchant, put, invited, removed, revoked, revokedKeys = [] } = change
  const role = newlyWaiting(change, decision)?.role ?? (put ?? invited ?? removed ?? revoked)?.role
  return [
    ...(role ? [`role:${role}`] : []),
    ...(change.ownerChanges === merchant.ownerChanges ? [] : ['pending_owner_change']),
    ...(revokedKeys.length > 0 ? ['api_key'] : []),
    ...(change.pendingPayout?.id === merchant.pendingPayout?.id ? [] : ['pending_payout_change']),
  ]
}

export const ownersOf = async (store: Store, { id }: Merchant): Promise<string[]> => ownersAmong(await store.members.list(id))

const INFORMING = operationList.flatMap(([, operation]) => {
  const { informs, audit, owner }: Operation = operation
  return informs && audit && owner !== 'api-gateway' ? [audit] : []
})

/** Informs of requests that may have had an effect, because no answer to them was recorded. Another replica may be first. */
export async function reportUnknown({ store }: Pick<TeamDeps, 'store'>): Promise<void> {
  for (const { id, merchant_id } of await store.auditLog.unanswered(INFORMING)) {
    const merchant = await store.merchants.find(merchant_id)
    await store.auditLog.end(id, 'unknown', null, merchant).catch(error => {
      if (!isUniqueViolation(error, 'audit_outcomes_pkey')) throw error
    })
  }
}
