import { ApiError } from '@ponte/contracts'
import { isStale } from '@ponte/service-kit'
import type { Response } from 'express'
import { userIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import {
  activatePayoutChange,
  approvePayoutChange,
  type Change,
  cancelPayoutChange,
  type Merchant,
  signPayoutChange,
} from '../merchant/merchant'
import { payoutMessage, waiting } from '../merchant/payout-change'
import { isSignedBy } from '../merchant/payout-signature'
import type { Store } from '../store'
import type { Action } from '../store/audit-log'
import { type AccountDeps, bodyFor, changeOwn } from './changes'

/** For a change of the payout address that waits. */
export function payoutHandlers(deps: AccountDeps) {
  const { store, now, payoutGuard } = deps
  const decided = async (res: Response, action: Action, decide: (merchant: Merchant) => Change | Promise<Change>) => {
    res.json(bodyFor(deps, await changeOwn(store, res, action, decide)))
  }
  return handling({
    signPayoutChange: ({ params: { id }, body: { signature } }, _req, res) =>
      decided(res, 'payout_change.sign', merchant => {
        const change = waiting(merchant, id)
        if (!isSignedBy(change.address, payoutMessage(merchant.id, change), signature)) throw notSigned()
        return signPayoutChange(merchant, id, now(), payoutGuard)
      }),
    async approvePayoutChange({ params: { id } }, _req, res) {
      await decided(res, 'payout_change.approve', async merchant => {
        // Looked up after the merchant, whose version reveals that the owners have changed meanwhile.
        const owner = await store.members.find(merchant.id, userIn(res).id)
        if (owner?.role !== 'owner') throw new ApiError('forbidden', 'Only an owner may approve this.')
        return approvePayoutChange(
          merchant,
          id,
          { userId: owner.userId, since: owner.roleSince ?? owner.createdAt, at: now() },
          payoutGuard,
        )
      })
    },
    cancelPayoutChange: ({ params: { id } }, _req, res) =>
      decided(res, 'payout_change.cancel', merchant => cancelPayoutChange(merchant, id, now())),
  })
}

/** Puts the changes in force that have waited long enough. Another replica, or a request, may be first. */
export async function activatePayoutChanges(store: Store, now: () => Date): Promise<void> {
  for (const merchant of await store.merchants.withDuePayout()) {
    const change = activatePayoutChange(merchant, now())
    if (change.changed.length === 0) continue
    await store.merchants
      .update(change, 'payout_change.activate', { userId: 'ponte', requestId: merchant.pendingPayout?.id ?? '', network: null })
      .catch(error => {
        if (!isStale(error)) throw error
      })
  }
}

const notSigned = () =>
  new ApiError('invalid_request', 'The body is not valid: signature is not of this message by the key of the new address.', {
    errors: [{ path: 'signature', message: 'is not of this message by the key of the new address' }],
  })
