import { ApiError, id as idSchema, signPayoutChange as signBody } from '@ponte/contracts'
import { isStale, parseRequest } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { userIn } from '../credentials'
import { jsonBody } from '../json-body'
import {
  activatePayoutChange,
  approvePayoutChange,
  type Change,
  cancelPayoutChange,
  isSignedBy,
  type Merchant,
  payoutMessage,
  signPayoutChange,
  waiting,
} from '../merchant'
import type { Store } from '../store'
import type { Action } from '../store/audit-log'
import { type AccountDeps, bodyFor, changeOwn, requireFreshLogin } from './changes'

const nothing = z.strictObject({})
const pathId = z.object({ id: idSchema })

/** What a merchant does with a change of the payout address that waits. */
export function payoutRoutes(deps: AccountDeps): Router {
  const { store, now, session, payoutGuard } = deps
  const router = Router()
  const decided = async (
    req: Request,
    res: Response,
    action: Action,
    decide: (merchant: Merchant, id: string) => Change | Promise<Change>,
  ) => {
    const { id } = parseRequest(pathId, req.params, 'path')
    const merchant = await changeOwn(store, res, action, found => decide(found, id))
    res.json(bodyFor(deps, merchant, res))
  }
  router.post('/api/v1/merchants/me/payout-changes/:id/sign', ...session, async (req, res) => {
    await decided(req, res, 'payout_change.sign', (merchant, id) => {
      const change = waiting(merchant, id)
      const { signature } = parseRequest(signBody, jsonBody(req), 'body')
      if (!isSignedBy(change.address, payoutMessage(merchant.id, change), signature)) throw notSigned()
      return signPayoutChange(merchant, id, now(), payoutGuard)
    })
  })
  router.post('/api/v1/merchants/me/payout-changes/:id/approve', ...session, async (req, res) => {
    parseRequest(nothing, jsonBody(req), 'body')
    requireFreshLogin(res, deps)
    await decided(req, res, 'payout_change.approve', async (merchant, id) => {
      // Looked up after the merchant, whose version reveals that the owners have changed meanwhile.
      const owner = await store.members.find(merchant.id, userIn(res).id)
      if (owner?.role !== 'owner') throw new ApiError('forbidden', 'Only an owner may approve this.')
      return approvePayoutChange(merchant, id, { userId: owner.userId, since: owner.roleSince ?? owner.createdAt, at: now() }, payoutGuard)
    })
  })
  router.post('/api/v1/merchants/me/payout-changes/:id/cancel', ...session, async (req, res) => {
    parseRequest(nothing, jsonBody(req), 'body')
    await decided(req, res, 'payout_change.cancel', (merchant, id) => cancelPayoutChange(merchant, id, now()))
  })
  return router
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
