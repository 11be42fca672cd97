import { type AddressPolicy, ApiError } from '@ponte/contracts'
import { keyedRequest, retryConflicts } from '@ponte/service-kit'
import type { Request, RequestHandler, Response } from 'express'
import { actorIdIn, mayDo, userIn } from '../credentials'
import { networkOf } from '../limits'
import { type Change, inForce, type Merchant, merchantBody, type PayoutGuard } from '../merchant'
import type { Owner } from '../owners'
import type { Store } from '../store'
import type { Action, Actor } from '../store/audit-log'
import type { Logo } from '../store/merchants'
import { merchantIdIn } from './membership'

/** What the routes of a merchant's own account stand on. */
export interface AccountDeps {
  store: Store
  now: () => Date
  /** Judges payout addresses. */
  orders: Owner
  sealKeys: readonly string[]
  /** What the dispatcher opens and closes beside the rule, so that a merchant is warned of what it refuses. */
  webhooks: AddressPolicy
  /** How long ago a login may be for what wants a fresh one; 0 takes any. */
  freshLoginMs: number
  payoutGuard: PayoutGuard
  /** There is a server for mail. */
  isMailing: boolean
  /** Leaves the user in `res.locals.user`, and the merchant that the request is about where the route needs one. */
  session: RequestHandler[]
  /** Leaves the merchant's terms in `res.locals.terms`. */
  apiKey: RequestHandler[]
}

/** The merchant that this request is about. */
export async function own(store: Store, res: Response): Promise<Merchant> {
  const merchant = await store.merchants.find(merchantIdIn(res))
  if (!merchant) throw new Error('A member has no merchant.')
  return merchant
}

/** Finds, decides, commits; retries after a concurrent change. */
export const changeOwn = (
  store: Store,
  res: Response,
  action: Action,
  decide: (merchant: Merchant) => Change | Promise<Change>,
  logo?: Logo | null,
): Promise<Merchant> =>
  retryConflicts(async () => {
    const change = await decide(await own(store, res))
    if (change.changed.length > 0) await store.merchants.update(change, action, actor(res), logo)
    return change.merchant
  })

export const actor = (res: Response): Actor => ({
  userId: actorIdIn(res),
  requestId: String(res.locals.requestId),
  network: networkOf(res.req.ip ?? ''),
})

/** What makes a request for a key repeatable, by the same user alone: another member who guesses the header is not shown the key. */
export function repeatableBy(req: Request, res: Response, merchant: Merchant): string | undefined {
  const keyed = keyedRequest(req, merchant.id)
  return keyed ? `${userIn(res).id} ${keyed.key}` : undefined
}

/** Whether the user logged in a moment ago. A provider that does not report when is never fresh. */
export function isFreshLogin(res: Response, { now, freshLoginMs }: Pick<AccountDeps, 'now' | 'freshLoginMs'>): boolean {
  if (freshLoginMs === 0) return true
  const { loggedInAt } = userIn(res)
  return loggedInAt !== null && now().getTime() - loggedInAt.getTime() < freshLoginMs
}

/** Throws `fresh_login_required` unless the user logged in a moment ago. */
export function requireFreshLogin(res: Response, deps: Pick<AccountDeps, 'now' | 'freshLoginMs'>): void {
  if (!isFreshLogin(res, deps)) throw new ApiError('fresh_login_required', 'Log in again, and repeat this within a few minutes.')
}

/** A merchant as this caller may see it. */
export const bodyFor = (
  { sealKeys, webhooks, now }: Pick<AccountDeps, 'sealKeys' | 'webhooks' | 'now'>,
  merchant: Merchant,
  res: Response,
) => merchantBody(inForce(merchant, now()), { sealKeys, webhooks, withSecrets: mayDo(res, 'secrets:write') })
