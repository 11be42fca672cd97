import { ApiError, type Caller, type MerchantTerms } from '@ponte/contracts'
import { addLogFields } from '@ponte/service-kit'
import type { RequestHandler, Response } from 'express'
import { hashApiKey, isApiKey } from './api-key'
import type { SessionTokens, SessionUser } from './session-token'

/** Refuses a request without a valid API key, and keeps the terms of its merchant in `res.locals.terms` (specification, API keys). */
export function requireApiKey(termsByKey: (hash: Buffer) => Promise<MerchantTerms | null>): RequestHandler {
  return async (req, res, next) => {
    const key = bearer(req.headers.authorization, 'Send the API key: Authorization: Bearer sk_live_…')
    const terms = key !== undefined && isApiKey(key) ? await termsByKey(hashApiKey(key)) : null
    if (!terms) throw new ApiError('invalid_api_key', 'This route needs an API key (sk_live_…) that is known and not revoked.')
    rememberTerms(res, terms)
    next()
  }
}

/** Refuses a request without a valid session token, and keeps its user in `res.locals.user` (specification, Session tokens). */
export function requireSession(tokens: SessionTokens): RequestHandler {
  return async (req, res, next) => {
    const token = bearer(req.headers.authorization, 'Send the session token: Authorization: Bearer <ACCESS_TOKEN>')
    if (token === undefined) throw new ApiError('invalid_jwt', 'This route needs the session token of a login as a bearer token.')
    const user = await tokens.verify(token)
    res.locals.user = user
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
export const userIn = (res: Response): SessionUser => res.locals.user
export const merchantCaller = (terms: MerchantTerms): Caller => ({ kind: 'merchant', terms })

/** The credential of a bearer header; undefined when the header holds something else. Throws `missing_authorization` without one. */
function bearer(header: string | undefined, advice: string): string | undefined {
  if (!header) throw new ApiError('missing_authorization', advice)
  return /^Bearer +(\S+)$/i.exec(header)?.[1]
}
