import { ApiError } from '@ponte/contracts'
import { retryConflicts } from '@ponte/service-kit'
import type { RequestHandler, Response } from 'express'
import { userIn } from '../credentials'
import type { Change, Merchant, PayoutGuard } from '../merchant'
import type { Owner } from '../owners'
import type { Store } from '../store'
import type { Action, Actor } from '../store/audit-log'

/** What the routes of a merchant's own account stand on. */
export interface AccountDeps {
  store: Store
  now: () => Date
  /** Judges payout addresses. */
  orders: Owner
  sealKey: string
  /** How long ago a login may be for what wants a fresh one; 0 takes any. */
  freshLoginMs: number
  payoutGuard: PayoutGuard
  /** Leaves the user in `res.locals.user`. */
  session: RequestHandler[]
}

/** The user's merchant. Throws `not_found` when there is none. */
export async function own(store: Store, res: Response): Promise<Merchant> {
  const merchant = await store.merchants.findByUser(userIn(res).id)
  if (!merchant) throw new ApiError('not_found', 'This user has no merchant yet; create it with POST /api/v1/merchants.')
  return merchant
}

/** Finds, decides, commits; retries after a concurrent change. */
export const changeOwn = (
  store: Store,
  res: Response,
  action: Action,
  decide: (merchant: Merchant) => Change | Promise<Change>,
): Promise<Merchant> =>
  retryConflicts(async () => {
    const change = await decide(await own(store, res))
    if (change.changed.length > 0) await store.merchants.update(change, action, actor(res))
    return change.merchant
  })

export const actor = (res: Response): Actor => ({ userId: userIn(res).id, requestId: String(res.locals.requestId) })

/** Whether the user logged in a moment ago. A provider that does not report when is never fresh. */
export function isFreshLogin(res: Response, { now, freshLoginMs }: Pick<AccountDeps, 'now' | 'freshLoginMs'>): boolean {
  if (freshLoginMs === 0) return true
  const { loggedInAt } = userIn(res)
  return loggedInAt !== null && now().getTime() - loggedInAt.getTime() < freshLoginMs
}
