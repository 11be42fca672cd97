import { randomUUID } from 'node:crypto'
import { id as idSchema } from '@ponte/contracts'
import { type RequestHandler, Router } from 'express'
import { freezeMerchant } from '../merchant/merchant'
import type { PayoutGuard } from '../merchant/payout-change'
import type { Store } from '../store'
import { changeMerchant } from './changes'

/**
 * For operators, on the inner port only: stops every change of a merchant's owners, payout address and endpoints, or lets them go on. Orders go on either way.
 * It may be asked again at any time.
 */
export function accountOperatorRoutes({ store, now, payoutGuard }: { store: Store; now: () => Date; payoutGuard: PayoutGuard }): Router {
  const router = Router()
  const setFrozen =
    (isFrozen: boolean): RequestHandler =>
    async (req, res) => {
      const id = idSchema.safeParse(req.params.id).data
      const known = id === undefined ? null : await store.merchants.find(id)
      if (!known)
        return void res.status(404).json({ detail: 'There is no such merchant: name it by its id, as the audit log and its dashboard do.' })
      const find = async () => (await store.merchants.find(known.id)) ?? known
      const by = { userId: 'ponte', requestId: randomUUID(), network: null }
      const action = isFrozen ? 'merchant.freeze' : 'merchant.unfreeze'
      const merchant = await changeMerchant(store, find, by, action, found => freezeMerchant(found, isFrozen, now(), payoutGuard))
      res.json({
        ...{ id: merchant.id, display_name: merchant.displayName, frozen_at: merchant.frozenAt?.toISOString() ?? null },
        waiting: merchant.ownerChanges.length + (merchant.pendingPayout ? 1 : 0),
      })
    }
  router.post('/merchants/:id/freeze', setFrozen(true))
  router.post('/merchants/:id/unfreeze', setFrozen(false))
  return router
}
