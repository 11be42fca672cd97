import { ApiError } from '@ponte/contracts'
import type { Logger } from '@ponte/service-kit'
import { z } from 'zod'
import { isConnectionLoss } from '../owners/connection-loss'
import { readJson } from '../read-body'

/** Facts of a session's user that the identity provider does not write into the token. */
export interface ProvidedUser {
  /** Null unless it was confirmed. Tokens of Supabase Auth name the address, and not whether it is confirmed. */
  verifiedEmail: string | null
  /** The user has enrolled a second factor and proven it once. */
  hasFactor: boolean
}

/** The identity provider as this process reaches it, in the shape of Supabase Auth. */
export interface IdentityProvider {
  /** A new session for a refresh token, which is then used up. Null when the provider refuses it; throws `service_unavailable` when it is silent. */
  renew(refreshToken: string): Promise<Grant | null>
  /** Ends the session of this access token. Throws when the provider does not. */
  end(accessToken: string): Promise<void>
  /** Throws `invalid_jwt` when the provider has ended the session, and `service_unavailable` when it is silent. */
  userOf(accessToken: string): Promise<ProvidedUser>
}

const TIMEOUT_MS = 5_000
const ANSWER_BYTES_MAX = 64 * 1024
const REFUSALS = [400, 401, 403]

const grant = z.object({ access_token: z.string(), refresh_token: z.string().min(1).max(4096), expires_in: z.number() })
type Grant = z.infer<typeof grant>

const user = z.object({
  email: z.email().nullish().catch(null),
  email_confirmed_at: z.string().nullish(),
  factors: z.array(z.object({ status: z.string() })).nullish(),
})

/** `url` is what the provider's routes begin with, such as `https://identity.example/auth/v1/`. */
export function openIdentityProvider({ url, clientKey, logger }: { url: string; clientKey: string; logger: Logger }): IdentityProvider {
  const ask = (path: string, init: RequestInit): Promise<Response | null> => {
    const request: RequestInit = {
      ...{ signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error', ...init },
      headers: { apikey: clientKey, 'Content-Type': 'application/json', ...init.headers },
    }
    const attempt = () => fetch(new URL(path, url), request)
    // Retry once on a stale keep-alive connection; the provider accepts a token again that was used a moment ago.
    return attempt()
      .catch(error => (isConnectionLoss(error) ? attempt() : Promise.reject(error)))
      .catch(error => {
        logger.warn('the identity provider does not answer', { error })
        return null
      })
  }
  const bodyOf = (response: Response | null) => (response?.ok ? readJson(response, ANSWER_BYTES_MAX).catch(() => null) : null)
  const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })
  return {
    async renew(refresh_token) {
      const response = await ask('token?grant_type=refresh_token', { method: 'POST', body: JSON.stringify({ refresh_token }) })
      if (response !== null && REFUSALS.includes(response.status)) return null
      return grant.safeParse(await bodyOf(response)).data ?? silent()
    },
    async end(accessToken) {
      const response = await ask('logout?scope=local', { method: 'POST', ...bearer(accessToken) })
      if (!response?.ok) throw new Error(`The log-out was answered with ${response?.status ?? 'nothing'}.`)
    },
    async userOf(accessToken) {
      const response = await ask('user', { method: 'GET', ...bearer(accessToken) })
      if (response !== null && REFUSALS.includes(response.status))
        throw new ApiError('invalid_jwt', 'The identity provider has ended this session. Log in again.')
      const { email, email_confirmed_at, factors } = user.safeParse(await bodyOf(response)).data ?? silent()
      return {
        verifiedEmail: email && email_confirmed_at ? email : null,
        hasFactor: factors?.some(({ status }) => status === 'verified') ?? false,
      }
    },
  }
}

function silent(): never {
  throw new ApiError('service_unavailable', 'The identity provider does not answer as it should; try again shortly.', { retryAfterS: 2 })
}
