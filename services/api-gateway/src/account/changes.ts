import { type AddressPolicy, ApiError, type Mode } from '@ponte/contracts'
import { idempotencyKeyOf, retryConflicts } from '@ponte/service-kit'
import type { Request, Response } from 'express'
import { actorIdIn, sessionTokenIn, userIn } from '../credentials/credentials'
import type { IdentityProvider } from '../credentials/identity-provider'
import { networkOf } from '../limits/address-bucket'
import type { Verdict } from '../limits/rate-limit'
import { type Change, inForce, type Merchant } from '../merchant/merchant'
import { merchantBody } from '../merchant/merchant-body'
import type { PayoutGuard } from '../merchant/payout-change'
import { isRecentLogin } from '../merchant/secret'
import type { Owner } from '../owners/owner'
import type { Store } from '../store'
import type { Action, Actor } from '../store/audit-log'
import type { Beside } from '../store/merchants'
import { merchantIdIn } from './membership'

export interface AccountDeps {
  store: Store
  now: () => Date
  orders: Owner
  sealKeys: readonly string[]
  /** The dispatcher's policy, so that a merchant is warned of an address that it refuses. */
  webhooks: AddressPolicy
  /** Longest age of a login where a fresh one is required; 0 takes any. */
  freshLoginMs: number
  /** Asked for what tokens do not report; null where none is set up, and then tokens are all there is. */
  provider: IdentityProvider | null
  payoutGuard: PayoutGuard
  /** The most that a merchant may choose as tolerance. */
  toleranceMaxUnits: bigint
  mode: Mode
  /** Counts requests of a user, or of a merchant's keys, that changed nothing. */
  countUnchanged(bucket: string, count: number): Verdict
  /** There is a server for mail. */
  isMailing: boolean
}

export async function own(store: Store, res: Response): Promise<Merchant> {
  const merchant = await store.merchants.find(merchantIdIn(res))
  if (!merchant) throw new Error('A member has no merchant.')
  return merchant
}

/** Finds, decides, commits; retries after a concurrent change. */
export const changeMerchant = (
  store: Store,
  find: () => Promise<Merchant>,
  by: Actor,
  action: Action,
  decide: (merchant: Merchant) => Change | Promise<Change>,
  beside?: Beside,
): Promise<Merchant> =>
  retryConflicts(async () => {
    const change = await decide(await find())
    if (change.changed.length > 0) await store.merchants.update(change, action, by, beside)
    return change.merchant
  })

export const changeOwn = (
  store: Store,
  res: Response,
  action: Action,
  decide: (merchant: Merchant) => Change | Promise<Change>,
  beside?: Beside,
): Promise<Merchant> => changeMerchant(store, () => own(store, res), actor(res), action, decide, beside)

export const actor = (res: Response): Actor => ({
  userId: actorIdIn(res),
  requestId: String(res.locals.requestId),
  network: networkOf(res.req.ip ?? ''),
})

/** Makes a request for a key repeatable, by the same user alone: another member who guesses the header is not shown the key. */
export function repeatableBy(req: Request, res: Response): string | undefined {
  const key = idempotencyKeyOf(req)
  return key === null ? undefined : `${userIn(res).id} ${key}`
}

type Proof = Pick<AccountDeps, 'now' | 'freshLoginMs' | 'provider'>

/**
 * Throws `fresh_login_required` unless the user logged in a moment ago, and `second_factor_required` unless the session has proven the second factor that its
 * user has. Whether there is one, the provider is asked: a thief's session with the password alone would not name it.
 */
export async function requireFreshLogin(res: Response, { now, freshLoginMs, provider }: Proof): Promise<void> {
  const { loggedInAt, hasSecondFactor } = userIn(res)
  if (!isRecentLogin(loggedInAt, now(), freshLoginMs))
    throw new ApiError('fresh_login_required', 'Log in again, and repeat this within a few minutes.')
  if (hasSecondFactor || !(await provider?.userOf(sessionTokenIn(res)))?.hasFactor) return
  throw new ApiError('second_factor_required', 'Log in again with your second factor, and repeat this within a few minutes.')
}

/** The same as an answer. While the provider is silent the login is not fresh. */
export const isFreshLogin = (res: Response, proof: Proof): Promise<boolean> =>
  requireFreshLogin(res, proof).then(
    () => true,
    () => false,
  )

/** A merchant, with its secrets for who was just shown them. */
export const bodyFor = (
  { sealKeys, webhooks, now, mode }: Pick<AccountDeps, 'sealKeys' | 'webhooks' | 'now' | 'mode'>,
  merchant: Merchant,
  withSecrets = false,
) => merchantBody(inForce(merchant, now()), { sealKeys, webhooks, mode, withSecrets })
