import { ApiError } from '@ponte/contracts'
import { type Logger, parseRequest } from '@ponte/service-kit'
import { parseCookie } from 'cookie'
import { type CookieOptions, type Response as ExpressResponse, type Request, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { jsonBody } from '../json-body'
import { addressBucket, enforce, failureLimit } from '../limits'
import { isLoopback } from '../loopback'
import { isConnectionLoss } from '../owners'
import { readJson } from '../read-body'

export interface SessionProvider {
  /** Where the identity provider renews and ends sessions, as this process reaches it. */
  refreshUrl: string
  logoutUrl: string
  clientKey: string
}

export interface DashboardSessionOptions {
  /** Null when no identity provider is configured. */
  provider: SessionProvider | null
  /** Whether browsers come by https; without it only on loopback. */
  secure: boolean
  clock: () => number
  logger: Logger
}

const PATH = '/dashboard/session'
const TIMEOUT_MS = 5_000
const GRANT_BYTES_MAX = 64 * 1024
/** Refused by the provider, from one address in a minute. It sees all of them come from the gateway, and limits the gateway. */
const REFUSALS_MAX = 30

const storeBody = z.strictObject({ refresh_token: z.string().min(1).max(4096) })
const grant = z.object({ access_token: z.string(), refresh_token: z.string().min(1).max(4096), expires_in: z.number() })

/**
 * Keeps the refresh token of a dashboard where no script reads it. The browser logs in at the identity provider, hands the token in once
 * (PUT), and has it used (POST) or forgotten (DELETE) from then on; it lies in a cookie that comes back to this path alone.
 */
export function dashboardSession(options: DashboardSessionOptions): Router {
  // A browser takes `__Secure-` over https only, so that no neighbour on plain http can plant one.
  const name = options.secure ? '__Secure-ponte_refresh' : 'ponte_refresh'
  const cookie: CookieOptions = { httpOnly: true, secure: options.secure, sameSite: 'strict', path: PATH }
  const router = Router()
  const fromOurPage = fromOurPageOnly(options.secure)
  const refusals = failureLimit(REFUSALS_MAX, options.clock)
  const renewed = async (req: Request, res: ExpressResponse, token: string) => {
    const bucket = addressBucket(req.ip ?? '')
    enforce(refusals.take(bucket), res, 'this address')
    const session = await refreshed(options, token)
    if (session) refusals.succeeded(bucket)
    return session
  }
  router.put(PATH, fromOurPage, (req, res) => {
    const { refresh_token } = parseRequest(storeBody, jsonBody(req), 'body')
    res.cookie(name, refresh_token, cookie).status(204).end()
  })
  router.post(PATH, fromOurPage, async (req, res) => {
    const token = tokenIn(req, name)
    const session = token === undefined ? null : await renewed(req, res, token)
    if (!session) return void res.clearCookie(name, cookie).status(204).end()
    const { refresh_token, ...answer } = session
    res.cookie(name, refresh_token, cookie).json(answer)
  })
  router.delete(PATH, fromOurPage, async (req, res) => {
    const token = tokenIn(req, name)
    if (token !== undefined) await revoked(options, () => renewed(req, res, token))
    res.clearCookie(name, cookie).status(204).end()
  })
  return router
}

/**
 * Cross-site requests are refused: setting this header needs a CORS preflight that is never granted, and the cookie is `SameSite=Strict`. So is
 * plain http from another machine, where the cookie could be read on its way.
 */
const fromOurPageOnly =
  (secure: boolean): RequestHandler =>
  (req, res, next) => {
    if (req.get('x-ponte-session') === undefined) throw new ApiError('forbidden', 'This route is for the dashboard alone.')
    if (!secure && !isLoopback(req.hostname))
      throw new ApiError('forbidden', 'The session would travel without TLS; set PUBLIC_URL to https://… and open that.')
    res.setHeader('Cache-Control', 'no-store')
    next()
  }

const tokenIn = ({ headers }: Request, name: string): string | undefined => parseCookie(headers.cookie ?? '')[name]

/** A new session for a refresh token, which is then used up. Null when the provider refuses it; throws `service_unavailable` when it is silent. */
async function refreshed({ provider, logger }: DashboardSessionOptions, token: string): Promise<z.infer<typeof grant> | null> {
  if (!provider) return null
  const response = await askProvider(provider.refreshUrl, provider, { body: JSON.stringify({ refresh_token: token }) }).catch(error => {
    logger.warn('the identity provider does not answer', { error })
    return null
  })
  if (response !== null && [400, 401, 403].includes(response.status)) return null
  const session = grant.safeParse(response && (await readJson(response, GRANT_BYTES_MAX).catch(() => null)))
  if (response?.ok && session.success) return session.data
  throw new ApiError('service_unavailable', 'The identity provider does not answer as it should; try again shortly.', { retryAfterS: 2 })
}

/** Ends the session at the provider, which wants an access token for that. The browser forgets the session whether this succeeds or not. */
async function revoked({ provider, logger }: DashboardSessionOptions, renew: () => ReturnType<typeof refreshed>): Promise<void> {
  try {
    const session = await renew()
    if (!provider || !session) return
    const response = await askProvider(provider.logoutUrl, provider, { headers: { Authorization: `Bearer ${session.access_token}` } })
    if (!response.ok) throw new Error(`The log-out was answered with ${response.status}.`)
  } catch (error) {
    logger.warn('a session could not be ended at the identity provider', { error })
  }
}

async function askProvider(url: string, { clientKey }: SessionProvider, more: RequestInit): Promise<Response> {
  const request: RequestInit = {
    method: 'POST',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
    ...more,
    headers: { apikey: clientKey, 'Content-Type': 'application/json', ...more.headers },
  }
  // Retry once on a stale keep-alive connection; the provider accepts a token again that was used a moment ago.
  return fetch(url, request).catch(error => (isConnectionLoss(error) ? fetch(url, request) : Promise.reject(error)))
}
