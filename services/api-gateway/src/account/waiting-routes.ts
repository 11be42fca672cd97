import { ApiError, type WaitingChangeBody } from '@ponte/contracts'
import { userIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import type { Member } from '../merchant/member'
import { cancelPayoutChange, type Merchant } from '../merchant/merchant'
import { confirmOwnerChange, mayConfirm, type OwnerChange, ownersAmong, undoOwnerChange } from '../merchant/owner-change'
import type { PayoutChange } from '../merchant/payout-change'
import { type AccountDeps, actor, changeMerchant } from './changes'
import { roleOf } from './member-bodies'
import { commitTeam } from './team'

/**
 * Waiting changes of the user's merchants, for their owners and for owners at the time of the request: these are no members any more, perhaps, and must be able
 * to undo what put them out.
 */
export function waitingHandlers(deps: AccountDeps) {
  const { store, now } = deps
  const waitingFor = async (userId: string): Promise<{ merchant: Merchant; changes: WaitingChangeBody[] }[]> => {
    const merchants = await store.merchants.waitingFor(userId)
    return Promise.all(
      merchants.map(async merchant => ({ merchant, changes: changesFor(userId, merchant, await store.members.list(merchant.id)) })),
    )
  }
  const findWaiting = async (userId: string, id: string) => {
    const found = (await waitingFor(userId)).find(({ changes }) => changes.some(change => change.id === id))
    const change = found?.changes.find(one => one.id === id)
    if (!found || !change) throw new ApiError('not_found', 'No such change is waiting; look at the changes again.')
    return { change, merchant: async () => (await store.merchants.find(found.merchant.id)) ?? found.merchant }
  }
  /** A change of owners as it waits after a decision; as it was where it waits no more. */
  const afterwards = async (userId: string, change: WaitingChangeBody, merchant: Merchant) =>
    changesFor(userId, merchant, await store.members.list(merchant.id)).find(({ id }) => id === change.id) ?? change
  return handling({
    async listWaitingChanges(_asked, _req, res) {
      const found = await waitingFor(userIn(res).id)
      res.json({ object: 'list', data: found.flatMap(({ changes }) => changes), has_more: false })
    },
    async cancelWaitingChange({ params: { id } }, _req, res) {
      const userId = userIn(res).id
      const { change, merchant } = await findWaiting(userId, id)
      if (change.type === 'payout_address') {
        if (!change.may_cancel) throw new ApiError('forbidden', 'Who was an owner when it was requested may cancel this.')
        await changeMerchant(store, merchant, actor(res), 'payout_change.cancel', current => cancelPayoutChange(current, id, now()), {
          target: id,
        })
        return void res.json(change)
      }
      const undone = await commitTeam(deps, actor(res), 'owner_change.cancel', merchant, (members, current) => ({
        target: id,
        ownerChanges: undoOwnerChange(members, current, id, { userId, at: now() }),
      }))
      res.json(await afterwards(userId, change, { ...undone.merchant, ownerChanges: undone.ownerChanges }))
    },
    async confirmWaitingChange({ params: { id } }, _req, res) {
      const userId = userIn(res).id
      const { change, merchant } = await findWaiting(userId, id)
      if (change.type === 'payout_address')
        throw new ApiError('invalid_state', 'A payout address is approved at /merchants/me/payout-changes.')
      const confirmed = await commitTeam(deps, actor(res), 'owner_change.confirm', merchant, (members, current) => ({
        target: id,
        ownerChanges: confirmOwnerChange(members, current, id, { userId, at: now() }, deps.payoutGuard),
      }))
      res.json(await afterwards(userId, change, { ...confirmed.merchant, ownerChanges: confirmed.ownerChanges }))
    },
  })
}

/** An owner sees all of them, another user those that were requested while they were one. */
export function changesFor(userId: string, merchant: Merchant, members: readonly Member[]): WaitingChangeBody[] {
  const isOwner = ownersAmong(members).includes(userId)
  const { pendingPayout, ownerChanges } = merchant
  return [...ownerChanges, ...(pendingPayout ? [pendingPayout] : [])]
    .filter(({ owners }) => isOwner || owners.includes(userId))
    .map(change => ({
      ...{ object: 'waiting_change', id: change.id, merchant_id: merchant.id, display_name: merchant.displayName },
      ...('memberId' in change
        ? {
            ...{ type: 'member', member_id: change.memberId, role: change.role && roleOf(change.role), payout_address: null },
            email: members.find(({ id }) => id === change.memberId)?.email ?? null,
            ...{ objected_at: change.objectedAt?.toISOString() ?? null, confirmed_by: change.confirmedBy },
            may_confirm: mayConfirm(members, change, userId),
          }
        : {
            ...{ type: 'payout_address', member_id: null, role: null, email: null, payout_address: change.address },
            ...(change.chainId === null ? {} : { chain_id: change.chainId }),
            ...{ objected_at: null, confirmed_by: null, may_confirm: false },
          }),
      ...{ requested_by: change.requestedBy, requested_at: change.requestedAt.toISOString() },
      ...{ activates_at: change.activatesAt.toISOString(), may_cancel: mayCancel(change, userId, members) },
    }))
}

/** A member put out by another owner's confirmation, or one who has objected already, has nothing left to cancel. */
function mayCancel(change: OwnerChange | PayoutChange, userId: string, members: readonly Member[]): boolean {
  if (!change.owners.includes(userId)) return false
  if (!('memberId' in change) || change.requestedBy === userId) return true
  const isPutOut = members.some(({ id, userId: other }) => id === change.memberId && other === userId)
  return !(isPutOut && (change.confirmedBy !== null || change.objectedAt !== null))
}
