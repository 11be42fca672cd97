import { createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError, text } from '@ponte/contracts'
import type { Logger } from '@ponte/service-kit'
import jwt from 'jsonwebtoken'
import { z } from 'zod'
import { keyFinder } from './key-set'

export interface SessionUser {
  id: string
  /** When the user last logged in; null when the provider does not report it. A refreshed token keeps the time of its login. */
  loggedInAt: Date | null
  /** The session was begun with a second factor, or has proven one since. */
  hasSecondFactor: boolean
  /** Null unless the provider verified it; `user_metadata` is the user's own to write and does not count. */
  verifiedEmail: string | null
  /** The provider's name of the session; null without one. */
  sessionId: string | null
}

export interface SessionTokens {
  /** Throws ApiError `invalid_jwt`, or `service_unavailable` while no keys can be had. */
  verify(token: string): Promise<SessionUser>
}

export interface SessionTokenOptions {
  /** The identity provider's keys, or the one secret it shares with us: never both, so that no token chooses. */
  keys: { jwksUrl: string } | { sharedSecret: string }
  issuer: string
  audience: string
  now: () => Date
  logger: Logger
}

const subject = text(255)
const sessionName = text(255)

/** Verifies session tokens: signature, algorithm, issuer, audience, expiry and subject. */
export function sessionTokens(options: SessionTokenOptions): SessionTokens {
  const { keys } = options
  const find = 'jwksUrl' in keys ? keyFinder(keys.jwksUrl, { ...options, refused }) : undefined
  const algorithms: jwt.Algorithm[] = find ? ['RS256', 'ES256'] : ['HS256']
  const secret = createSecretKey(Buffer.from('sharedSecret' in keys ? keys.sharedSecret : ''))

  const check = (token: string, key: KeyObject): SessionUser => {
    const claims = jwt.verify(token, key, {
      algorithms,
      issuer: options.issuer,
      audience: options.audience,
      clockTimestamp: Math.floor(options.now().getTime() / 1000),
    })
    if (typeof claims === 'string') throw refused('its payload is not an object')
    if (claims.exp === undefined) throw refused('it never expires')
    const sub = subject.safeParse(claims.sub)
    if (!sub.success) throw refused('it names no user')
    if (claims.is_anonymous === true) throw refused('it is of a user who never logged in')
    if (claims.role === 'service_role') throw refused('it is of a server, not of a user')
    return {
      id: sub.data,
      loggedInAt: loginTimeIn(claims),
      hasSecondFactor: claims.aal === 'aal2' || claims.aal === 'aal3',
      verifiedEmail: verifiedEmailIn(claims),
      sessionId: sessionName.safeParse(claims.session_id).data ?? null,
    }
  }
  return {
    async verify(token) {
      const header = decodedHeader(token)
      if (!header || !algorithms.includes(header.alg as jwt.Algorithm)) throw refused('it is not signed in a way we accept')
      if ('crit' in header) throw refused('it asks for an extension we do not know')
      const key = find ? await find(header.kid) : secret
      try {
        return check(token, key)
      } catch (error) {
        if (error instanceof ApiError) throw error
        // jsonwebtoken also throws plain errors, on a signature of the wrong length for example: whatever it is, the token is not good.
        throw refused(error instanceof jwt.JsonWebTokenError ? error.message : 'it cannot be read')
      }
    },
  }
}

const seconds = z.number().min(0).max(8.64e12)
/** OpenID Connect's `auth_time`, or the methods of Supabase Auth's `amr`. */
const loginClaims = z.object({
  auth_time: seconds.optional().catch(undefined),
  amr: z
    .array(z.object({ method: z.string(), timestamp: seconds }))
    .optional()
    .catch(undefined),
})

/**
 * Methods of Supabase Auth by which a user logs in. A refresh logs no one in, and neither does a second factor, a passkey or a confirmed change of the address:
 * a session of any age can enrol or request these, so that a stolen one would make itself fresh. So with methods that are not known.
 */
const LOGINS = ['password', 'otp', 'magiclink', 'recovery', 'invite', 'email/signup', 'oauth', 'sso/saml', 'web3']
const isLogin = ({ method }: { method: string }) => LOGINS.includes(method)

function loginTimeIn(claims: object): Date | null {
  const { auth_time, amr = [] } = loginClaims.parse(claims)
  const times = [...(auth_time === undefined ? [] : [auth_time]), ...amr.filter(isLogin).map(({ timestamp }) => timestamp)]
  return times.length === 0 ? null : new Date(Math.max(...times) * 1000)
}

const emailClaims = z.object({ email: z.email(), email_verified: z.literal(true) })
const verifiedEmailIn = (claims: object): string | null => emailClaims.safeParse(claims).data?.email ?? null

/** The session of a token that came from the provider itself, by its name there; unverified. */
export function sessionNamedBy(token: string): string | null {
  try {
    return sessionName.safeParse(jwt.decode(token, { json: true })?.session_id).data ?? null
  } catch {
    return null
  }
}

/** jsonwebtoken throws a SyntaxError on a header or payload that is not JSON. */
function decodedHeader(token: string): jwt.JwtHeader | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header
  } catch {
    return undefined
  }
}

const refused = (why: string) => new ApiError('invalid_jwt', `The session token was refused: ${why}. Log in again.`)
