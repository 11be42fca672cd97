import {
  ApiError,
  type Caller,
  type Credential,
  keyPrefixOf,
  type MerchantTerms,
  type Mode,
  type Permission,
  SPECIFIED_KEY_SCOPES,
} from '@ponte/contracts'
import { addLogFields } from '@ponte/service-kit'
import type { Request, RequestHandler, Response } from 'express'
import { hashApiKey, isApiKey } from './api-key'
import type { IdentityProvider } from './identity-provider'
import type { SessionTokens, SessionUser } from './session-token'

/** A merchant's terms as one of its keys gives them; `scopes` and `key_id` are null of the key that the specification knows. */
export type KeyTerms = MerchantTerms & { scopes: readonly Permission[] | null; key_id: string | null; frozen_at: Date | null }

interface Access {
  permissions: readonly Permission[]
  subject: string
}

/** Refuses a request without a valid API key, and keeps the terms of its merchant in `res.locals.terms` (specification, API keys). */
export function requireApiKey(termsByKey: (hash: Buffer) => Promise<KeyTerms | null>, mode: Mode): RequestHandler {
  const prefix = keyPrefixOf(mode)
  return async (req, res, next) => {
    const key = bearer(req.headers.authorization, `Send the API key: Authorization: Bearer ${prefix}…`)
    if (key !== undefined && isApiKey(key) && !key.startsWith(prefix))
      throw new ApiError(
        'invalid_api_key',
        `This is a key of a ${mode === 'test' ? 'live' : 'test'} deployment (${key.slice(0, prefix.length)}…), and this one is ${mode === 'test' ? 'for tests: no real money moves here' : 'not for tests'}. Use its own key (${prefix}…).`,
      )
    const known = key !== undefined && isApiKey(key) ? await termsByKey(hashApiKey(key)) : null
    if (!known)
      throw new ApiError('invalid_api_key', `This route needs an API key (${prefix}…) that is known and neither revoked nor expired.`)
    const { scopes, key_id, frozen_at: frozenAt, ...terms } = known
    rememberTerms(res, terms)
    res.locals.actorId = key_id === null ? 'api_key' : `api_key:${key_id}`
    const subject = scopes ? 'This API key' : 'The API key without a name'
    rememberAccess(res, { permissions: scopes ?? SPECIFIED_KEY_SCOPES, subject })
    res.locals.frozenAt = frozenAt
    next()
  }
}

/** Refuses a request whose credential may not do this. */
export const requirePermission =
  (needed: Permission): RequestHandler =>
  (_req, res, next) => {
    requirePermissionFor(res, needed)
    next()
  }

/** Throws `forbidden`, which names the permission, when this credential lacks it. */
export function requirePermissionFor(res: Response, needed: Permission): void {
  if (!mayDo(res, needed)) throw new ApiError('forbidden', `${accessIn(res).subject} may not do this; it needs ${needed}.`)
}

export const permissionsIn = (res: Response): readonly Permission[] => accessIn(res).permissions
export const mayDo = (res: Response, permission: Permission): boolean => permissionsIn(res).includes(permission)
export function rememberAccess(res: Response, access: Access): void {
  res.locals.access = access
}
const accessIn = (res: Response): Access => res.locals.access

/** Refuses a request without a valid session token, and keeps its user in `res.locals.user` (specification, Session tokens). */
export function requireSession(tokens: SessionTokens, note: (user: SessionUser, req: Request) => Promise<void>): RequestHandler {
  return async (req, res, next) => {
    const token = bearer(req.headers.authorization, 'Send the session token: Authorization: Bearer <ACCESS_TOKEN>')
    if (token === undefined) throw new ApiError('invalid_jwt', 'This route needs the session token of a login as a bearer token.')
    const user = await tokens.verify(token)
    await note(user, req)
    res.locals.user = user
    res.locals.sessionToken = token
    res.locals.actorId = user.id
    addLogFields({ user_id: user.id })
    next()
  }
}

export function rememberTerms(res: Response, terms: MerchantTerms): void {
  res.locals.terms = terms
  addLogFields({ merchant_id: terms.merchant_id })
}

export const termsIn = (res: Response): MerchantTerms => res.locals.terms
/** For the audit log: a user, or a key of the merchant. */
export const actorIdIn = (res: Response): string => res.locals.actorId
export const userIn = (res: Response): SessionUser => res.locals.user
export const sessionTokenIn = (res: Response): string => res.locals.sessionToken
/** Null unless the provider confirmed it, in the token or when asked. */
export const verifiedEmailOf = async (res: Response, provider: IdentityProvider | null): Promise<string | null> =>
  userIn(res).verifiedEmail ?? (await provider?.userOf(sessionTokenIn(res)))?.verifiedEmail ?? null
export const merchantCaller = (terms: MerchantTerms): Caller => ({ kind: 'merchant', terms })
/** A payer, or the merchant as this credential may see it. */
export const callerIn = (res: Response, maySeeSecrets = false): Caller =>
  res.locals.credential === 'link' || res.locals.credential === undefined
    ? { kind: 'checkout' }
    : {
        ...{ kind: 'merchant', terms: termsIn(res) },
        ...(maySeeSecrets ? { may_see_secrets: true } : {}),
        ...(res.locals.user ? { user_id: userIn(res).id } : {}),
      }

/** Which of the credentials that an operation takes this request comes with: a session token is a JWT, and everything else is judged as the first. */
export function credentialOf(req: Request, credentials: readonly Credential[]): Credential | undefined {
  const isJwt = credentials.includes('session') && /^Bearer +[\w-]+\.[\w-]+\.[\w-]*$/i.test(req.headers.authorization ?? '')
  return isJwt ? 'session' : credentials[0]
}

/** The credential of a bearer header; undefined when the header holds something else. Throws `missing_authorization` without one. */
function bearer(header: string | undefined, advice: string): string | undefined {
  if (!header) throw new ApiError('missing_authorization', advice)
  return /^Bearer +(\S+)$/i.exec(header)?.[1]
}
