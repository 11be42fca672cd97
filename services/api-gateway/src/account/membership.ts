import { ApiError, id as idSchema, MERCHANT_HEADER } from '@ponte/contracts'
import type { Request, RequestHandler, Response } from 'express'
import { rememberAccess, userIn } from '../credentials'
import { permissionsOf } from '../merchant'
import type { Store } from '../store'

/**
 * Finds the merchant that a session's request is about, and what its user may do there: the one that the header names, or else the one that the
 * user created or joined first. Throws `forbidden` for another's, and `not_found` when there is none.
 */
export function requireMembership(store: Store, isNeeded: (req: Request) => boolean): RequestHandler {
  return async (req, res, next) => {
    rememberAccess(res, { permissions: [], subject: 'This user' })
    if (!isNeeded(req)) return next()
    const memberships = await store.members.ofUser(userIn(res).id)
    const named = merchantNamedBy(req)
    const membership = named === null ? memberships[0] : memberships.find(({ merchantId }) => merchantId === named)
    if (!membership && named !== null) throw new ApiError('forbidden', `You do not belong to the merchant that ${MERCHANT_HEADER} names.`)
    if (!membership) throw new ApiError('not_found', 'This user has no merchant yet; create it with POST /api/v1/merchants.')
    const { verifiedEmail } = userIn(res)
    if (membership.email === null && verifiedEmail !== null) await store.members.noteEmail(membership.id, verifiedEmail)
    res.locals.merchantId = membership.merchantId
    rememberAccess(res, { permissions: permissionsOf(membership.role), subject: `A member with the role ${membership.role}` })
    next()
  }
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
