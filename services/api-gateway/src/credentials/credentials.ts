import { ApiError, type Caller, type MerchantTerms, type Permission, SPECIFIED_KEY_SCOPES } from '@ponte/contracts'
import { addLogFields } from '@ponte/service-kit'
import type { Request, RequestHandler, Response } from 'express'
import { hashApiKey, isApiKey } from './api-key'
import type { SessionTokens, SessionUser } from './session-token'

/** A merchant's terms as one of its keys gives them; `scopes` and `key_id` are null of the key that the specification knows. */
export type KeyTerms = MerchantTerms & { scopes: readonly Permission[] | null; key_id: string | null }

/** What a request may do, and how its credential is called in a refusal. */
interface Access {
  permissions: readonly Permission[]
  subject: string
}

/** Refuses a request without a valid API key, and keeps the terms of its merchant in `res.locals.terms` (specification, API keys). */
export function requireApiKey(termsByKey: (hash: Buffer) => Promise<KeyTerms | null>): RequestHandler {
  return async (req, res, next) => {
    const key = bearer(req.headers.authorization, 'Send the API key: Authorization: Bearer sk_live_…')
    const known = key !== undefined && isApiKey(key) ? await termsByKey(hashApiKey(key)) : null
    if (!known)
      throw new ApiError('invalid_api_key', 'This route needs an API key (sk_live_…) that is known and neither revoked nor expired.')
    const { scopes, key_id, ...terms } = known
    rememberTerms(res, terms)
    res.locals.actorId = key_id === null ? 'api_key' : `api_key:${key_id}`
    rememberAccess(res, { permissions: scopes ?? SPECIFIED_KEY_SCOPES, subject: scopes ? 'This API key' : 'The API key without a name' })
    next()
  }
}

/** Refuses a request whose credential may not do what the route needs. */
export function requirePermission(permissionOf: (req: Request) => Permission | null): RequestHandler {
  return (req, res, next) => {
    const needed = permissionOf(req)
    if (needed !== null) requirePermissionFor(res, needed)
    next()
  }
}

/** Throws `forbidden`, which names the permission, when this credential lacks it. */
export function requirePermissionFor(res: Response, needed: Permission): void {
  if (!mayDo(res, needed)) throw new ApiError('forbidden', `${accessIn(res).subject} may not do this; it needs ${needed}.`)
}

export const mayDo = (res: Response, permission: Permission): boolean => accessIn(res).permissions.includes(permission)
export function rememberAccess(res: Response, access: Access): void {
  res.locals.access = access
}
const accessIn = (res: Response): Access => res.locals.access

/** Refuses a request without a valid session token, and keeps its user in `res.locals.user` (specification, Session tokens). */
export function requireSession(tokens: SessionTokens): RequestHandler {
  return async (req, res, next) => {
    const token = bearer(req.headers.authorization, 'Send the session token: Authorization: Bearer <ACCESS_TOKEN>')
    if (token === undefined) throw new ApiError('invalid_jwt', 'This route needs the session token of a login as a bearer token.')
    const user = await tokens.verify(token)
    res.locals.user = user
    res.locals.actorId = user.id
    addLogFields({ user_id: user.id })
    next()
  }
}

/** Keeps the merchant of this request for the routes and the log. */
export function rememberTerms(res: Response, terms: MerchantTerms): void {
  res.locals.terms = terms
  addLogFields({ merchant_id: terms.merchant_id })
}

export const termsIn = (res: Response): MerchantTerms => res.locals.terms
/** Who asks, for the audit log: a user, or a key of the merchant. */
export const actorIdIn = (res: Response): string => res.locals.actorId
export const userIn = (res: Response): SessionUser => res.locals.user
export const merchantCaller = (terms: MerchantTerms): Caller => ({ kind: 'merchant', terms })
/** The merchant as this credential may see it: the secrets of endpoints are for what may replace them. */
export const callerIn = (res: Response): Caller => ({
  ...{ kind: 'merchant', terms: termsIn(res) },
  ...(mayDo(res, 'endpoints:write') ? { may_see_secrets: true } : {}),
  ...(res.locals.user ? { user_id: userIn(res).id } : {}),
})

/** The credential of a bearer header; undefined when the header holds something else. Throws `missing_authorization` without one. */
function bearer(header: string | undefined, advice: string): string | undefined {
  if (!header) throw new ApiError('missing_authorization', advice)
  return /^Bearer +(\S+)$/i.exec(header)?.[1]
}
