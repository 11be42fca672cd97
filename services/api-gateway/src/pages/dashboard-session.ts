import { ApiError } from '@ponte/contracts'
import { type Logger, parseRequest } from '@ponte/service-kit'
import { parseCookie } from 'cookie'
import { type CookieOptions, type Request, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { jsonBody } from '../json-body'
import { isConnectionLoss } from '../owners'

export interface DashboardSessionOptions {
  /** Where the identity provider takes refresh tokens, as we reach it; null when nobody logs in here. */
  refreshUrl: string | null
  clientKey: string
  /** Whether browsers come by https. */
  secure: boolean
  logger: Logger
}

const PATH = '/dashboard/session'
const COOKIE = 'ponte_refresh'
const TIMEOUT_MS = 5_000

const storeBody = z.strictObject({ refresh_token: z.string().min(1).max(4096) })
const grant = z.object({ access_token: z.string(), refresh_token: z.string().min(1).max(4096), expires_in: z.number() })

/**
 * Keeps the refresh token of a dashboard where no script reads it. The browser logs in at the identity provider, hands the token in once
 * (PUT), and has it used (POST) or forgotten (DELETE) from then on; it lies in a cookie that comes back to this path alone.
 */
export function dashboardSession(options: DashboardSessionOptions): Router {
  const cookie: CookieOptions = { httpOnly: true, secure: options.secure, sameSite: 'strict', path: PATH }
  const router = Router()
  router.put(PATH, fromOurPage, (req, res) => {
    const { refresh_token } = parseRequest(storeBody, jsonBody(req), 'body')
    res.cookie(COOKIE, refresh_token, cookie).status(204).end()
  })
  router.post(PATH, fromOurPage, async (req, res) => {
    const token = tokenIn(req)
    const session = token === undefined ? null : await refreshed(options, token)
    if (!session) return void res.clearCookie(COOKIE, cookie).status(204).end()
    const { refresh_token, ...answer } = session
    res.cookie(COOKIE, refresh_token, cookie).json(answer)
  })
  router.delete(PATH, fromOurPage, (_req, res) => void res.clearCookie(COOKIE, cookie).status(204).end())
  return router
}

/** Cross-site requests are refused: setting this header needs a CORS preflight that is never granted, and the cookie is `SameSite=Strict`. */
const fromOurPage: RequestHandler = (req, res, next) => {
  if (req.get('x-ponte-session') === undefined) throw new ApiError('forbidden', 'This route is for the dashboard alone.')
  res.setHeader('Cache-Control', 'no-store')
  next()
}

const tokenIn = ({ headers }: Request): string | undefined => parseCookie(headers.cookie ?? '')[COOKIE]

/** A new session for a refresh token, which is then used up. Null when the provider refuses it; throws `service_unavailable` when it is silent. */
async function refreshed({ refreshUrl, clientKey, logger }: DashboardSessionOptions, token: string): Promise<z.infer<typeof grant> | null> {
  if (refreshUrl === null) return null
  const request: RequestInit = {
    method: 'POST',
    headers: { apikey: clientKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: token }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  }
  // Retry once on a stale keep-alive connection; the provider accepts a token again that was used a moment ago.
  const response = await fetch(refreshUrl, request)
    .catch(error => (isConnectionLoss(error) ? fetch(refreshUrl, request) : Promise.reject(error)))
    .catch(error => {
      logger.warn('the identity provider does not answer', { error })
      return null
    })
  if (response !== null && [400, 401, 403].includes(response.status)) return null
  const session = grant.safeParse(await response?.json().catch(() => null))
  if (response?.ok && session.success) return session.data
  throw new ApiError('service_unavailable', 'The identity provider does not answer as it should; try again shortly.', { retryAfterS: 2 })
}
