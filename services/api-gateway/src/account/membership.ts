import { ApiError, id as idSchema, MERCHANT_HEADER } from '@ponte/contracts'
import type { Request, RequestHandler, Response } from 'express'
import { LRUCache } from 'lru-cache'
import { rememberAccess, userIn, verifiedEmailOf } from '../credentials/credentials'
import type { IdentityProvider } from '../credentials/identity-provider'
import { permissionsOf } from '../merchant/member'
import { requireNotFrozen } from '../merchant/owner-change'
import type { Store } from '../store'

interface MembershipDeps {
  store: Store
  provider: IdentityProvider | null
}

/** Members whose address the provider did not confirm a moment ago. */
const unconfirmed = new LRUCache<string, true>({ max: 10_000, ttl: 600_000 })

/**
 * Finds the merchant that a session's request is about, and what its user may do there: the one that the header names, or else the one that the
 * user created or joined first. Throws `forbidden` for another's, and `not_found` when there is none.
 */
export function requireMembership(deps: MembershipDeps, isNeeded: boolean): RequestHandler {
  const { store } = deps
  return async (req, res, next) => {
    rememberAccess(res, { permissions: [], subject: 'This user' })
    if (!isNeeded) return next()
    const memberships = await store.members.ofUser(userIn(res).id)
    const named = merchantNamedBy(req)
    const membership = named === null ? memberships[0] : memberships.find(({ merchantId }) => merchantId === named)
    if (!membership && named !== null) throw new ApiError('forbidden', `You do not belong to the merchant that ${MERCHANT_HEADER} names.`)
    if (!membership) throw new ApiError('not_found', 'This user has no merchant yet; create it with POST /api/v1/merchants.')
    if (membership.email === null) await noteEmail(deps, res, membership.id)
    remember(res, membership)
    next()
  }
}

/** The same merchant once more, for a request that may have waited while its user was removed or given another role. */
export function requireMembershipStill({ store }: Pick<MembershipDeps, 'store'>): RequestHandler {
  return async (_req, res, next) => {
    const membership = await presentMembership(store, res)
    if (!membership) throw new ApiError('forbidden', 'You were removed from this merchant meanwhile.')
    remember(res, membership)
    next()
  }
}

export const presentMembership = async (store: Store, res: Response) =>
  (await store.members.ofUser(userIn(res).id)).find(({ merchantId }) => merchantId === merchantIdIn(res))

function remember(res: Response, { merchantId, merchant, role }: Awaited<ReturnType<Store['members']['ofUser']>>[number]): void {
  res.locals.merchantId = merchantId
  res.locals.frozenAt = merchant.frozenAt
  rememberAccess(res, { permissions: permissionsOf(role), subject: `A member with the role ${role}` })
}

/** Where mails to a member go. Nothing waits for a provider that is silent. */
async function noteEmail(deps: MembershipDeps, res: Response, memberId: string): Promise<void> {
  if (userIn(res).verifiedEmail === null && unconfirmed.has(memberId)) return
  const email = await verifiedEmailOf(res, deps.provider).catch(() => null)
  if (email === null) unconfirmed.set(memberId, true)
  else await deps.store.members.noteEmail(memberId, email)
}

/** Refuses a change of an account that an operator has frozen. */
export const requireUnfrozen: RequestHandler = (_req, res, next) => {
  requireNotFrozen({ frozenAt: res.locals.frozenAt ?? null })
  next()
}

export const merchantIdIn = (res: Response): string => res.locals.merchantId

function merchantNamedBy(req: Request): string | null {
  const given = req.get(MERCHANT_HEADER)
  if (given === undefined) return null
  const named = idSchema.safeParse(given)
  if (named.success) return named.data
  throw new ApiError('invalid_request', `The header ${MERCHANT_HEADER} must be the id of a merchant.`, {
    errors: [{ path: MERCHANT_HEADER, message: 'must be the id of a merchant' }],
  })
}
