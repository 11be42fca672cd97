import { ApiError, invalidField } from '@ponte/contracts'
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
  signPayoutAddress,
  signPayoutChange,
} from '../merchant/merchant'
import { payoutAddressMessage, payoutMessage, waiting } from '../merchant/payout-change'
import { signatureBy } from '../merchant/payout-signature'
import type { Store } from '../store'
import type { Action } from '../store/audit-log'
import { type AccountDeps, bodyFor, changeOwn } from './changes'

export function payoutHandlers(deps: AccountDeps) {
  const { store, now, payoutGuard } = deps
  const decided = async (
    res: Response,
    action: Action,
    target: string | null,
    decide: (merchant: Merchant) => Change | Promise<Change>,
  ) => {
    res.json(bodyFor(deps, await changeOwn(store, res, action, decide, { target })))
  }
  return handling({
    signPayoutChange: ({ params: { id }, body }, _req, res) =>
      decided(res, 'payout_change.sign', id, merchant => {
        const change = waiting(merchant, id)
        const message = payoutMessage(merchant.id, change)
        const signature = signatureBy(change.address, message, body.signature)
        if (signature === null) throw notSigned('new address')
        return signPayoutChange(merchant, id, { message, signature, at: now() }, payoutGuard)
      }),
    signPayoutAddress: ({ body }, _req, res) =>
      decided(res, 'payout_address.sign', null, merchant => {
        const { payoutAddress: address } = merchant
        if (address === null) throw new ApiError('invalid_state', 'There is no payout address to sign; set it first.')
        const message = payoutAddressMessage(merchant.id, address)
        const signature = signatureBy(address, message, body.signature)
        if (signature === null) throw notSigned('payout address')
        return signPayoutAddress(merchant, { message, signature, at: now() })
      }),
    async approvePayoutChange({ params: { id } }, _req, res) {
      await decided(res, 'payout_change.approve', id, async merchant => {
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
      decided(res, 'payout_change.cancel', id, merchant => cancelPayoutChange(merchant, id, now())),
  })
}

/** Puts the changes in force that have waited long enough. Another replica, or a request, may be first. */
export async function activatePayoutChanges(store: Store, now: () => Date): Promise<void> {
  for (const merchant of await store.merchants.withDuePayout()) {
    const change = activatePayoutChange(merchant, now())
    if (change.changed.length === 0) continue
    const target = merchant.pendingPayout?.id ?? null
    await store.merchants
      .update(change, 'payout_change.activate', { userId: 'ponte', requestId: target ?? '', network: null }, { target })
      .catch(error => {
        if (!isStale(error)) throw error
      })
  }
}

const notSigned = (whose: 'new address' | 'payout address') =>
  invalidField('signature', `is not of this message by the key of the ${whose}`)
