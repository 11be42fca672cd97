import { ApiError } from '@ponte/contracts'
import { type Logger, parseRequest } from '@ponte/service-kit'
import { parseCookie } from 'cookie'
import { type CookieOptions, type Response as ExpressResponse, type Request, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import type { IdentityProvider } from '../credentials/identity-provider'
import { sessionNamedBy } from '../credentials/session-token'
import { jsonBody } from '../edge/json-body'
import { addressBucket } from '../limits/address-bucket'
import { enforce } from '../limits/limit-handlers'
import { failureLimit } from '../limits/rate-limit'
import { isLoopback } from '../loopback'
import type { Store } from '../store'

export interface DashboardSessionOptions {
  /** Null when no identity provider is configured. */
  provider: IdentityProvider | null
  /** Sessions that users have ended here, which the provider still renews. */
  sessions: Pick<Store['sessions'], 'find' | 'end'>
  now: () => Date
  /** Whether browsers come by https; without it only on loopback. */
  secure: boolean
  clock: () => number
  logger: Logger
}

const PATH = '/dashboard/session'
/** Refused by the provider, from one address in a minute. It sees all of them come from the gateway, and limits the gateway. */
const REFUSALS_MAX = 30

const storeBody = z.strictObject({ refresh_token: z.string().min(1).max(4096) })

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
    const session = (await options.provider?.renew(token)) ?? null
    if (session) refusals.succeeded(bucket)
    return session
  }
  router.put(PATH, fromOurPage, (req, res) => {
    const { refresh_token } = parseRequest(storeBody, jsonBody(req), 'body')
    res.cookie(name, refresh_token, cookie).status(204).end()
  })
  router.post(PATH, fromOurPage, async (req, res) => {
    const token = tokenIn(req, name)
    const renewal = token === undefined ? null : await renewed(req, res, token)
    const session = renewal && (await unlessEnded(options, renewal))
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

type Renewal = NonNullable<Awaited<ReturnType<IdentityProvider['renew']>>>

/** Null when the user has ended this session here; then it ends at the provider too. */
async function unlessEnded({ sessions, provider, logger }: DashboardSessionOptions, renewal: Renewal): Promise<Renewal | null> {
  const name = sessionNamedBy(renewal.access_token)
  if (name === null || !(await sessions.find(name))?.endedAt) return renewal
  await provider
    ?.end(renewal.access_token)
    .catch(error => logger.warn('an ended session could not be ended at the identity provider', { error }))
  return null
}

/** Ends the session at the provider, which wants an access token for that. The browser forgets the session whether this succeeds or not. */
async function revoked({ provider, sessions, now, logger }: DashboardSessionOptions, renew: () => Promise<Renewal | null>): Promise<void> {
  try {
    const session = await renew()
    if (!session) return
    const name = sessionNamedBy(session.access_token)
    // Its last access token is refused too.
    if (name !== null) await sessions.end({ providerId: name }, now())
    await provider?.end(session.access_token)
  } catch (error) {
    logger.warn('a session could not be ended at the identity provider', { error })
  }
}
