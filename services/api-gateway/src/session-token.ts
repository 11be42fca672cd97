import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError, text } from '@ponte/contracts'
import type { Logger } from '@ponte/service-kit'
import jwt from 'jsonwebtoken'
import jwksClient from 'jwks-rsa'

export interface SessionTokens {
  /** The user a token speaks for. Throws ApiError `invalid_jwt`, or `service_unavailable` while no keys can be had. */
  verify(token: string): Promise<string>
}

export interface SessionTokenOptions {
  /** The identity provider's keys, or the one secret it shares with us: never both, so that no token chooses. */
  keys: { jwksUrl: string } | { sharedSecret: string }
  issuer: string
  audience: string
  now: () => Date
  logger: Logger
}

const FETCH_TIMEOUT_MS = 5_000
const KEY_CACHE_MS = 10 * 60_000
/** How long the last key set is good while the identity provider does not answer. */
const KEY_SET_USABLE_MS = 60 * 60_000
const FETCHES_MAX = 10
const FETCH_REFILL_MS = 6_000

const subject = text(255)

/** Verifies session tokens as design section 11 says. */
export function sessionTokens(options: SessionTokenOptions): SessionTokens {
  const { keys } = options
  const find = 'jwksUrl' in keys ? jwksKeys(keys.jwksUrl, options) : undefined
  const algorithms: jwt.Algorithm[] = find ? ['RS256', 'ES256'] : ['HS256']
  const secret = createSecretKey(Buffer.from('sharedSecret' in keys ? keys.sharedSecret : ''))

  const check = (token: string, key: KeyObject): string => {
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
    return sub.data
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

/** jsonwebtoken throws a SyntaxError on a header or payload that is not JSON. */
function decodedHeader(token: string): jwt.JwtHeader | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header
  } catch {
    return undefined
  }
}

const refused = (why: string) => new ApiError('invalid_jwt', `The session token was refused: ${why}. Log in again.`)

/** Finds a public key by its id: known ones from memory, unknown ones by asking the identity provider again. */
function jwksKeys(jwksUrl: string, { now, logger }: SessionTokenOptions): (kid: string | undefined) => Promise<KeyObject> {
  // Reading a key from its text costs more than checking a signature with it.
  const read = new WeakMap<object, KeyObject>()
  const client = jwksClient({
    jwksUri: jwksUrl,
    cache: true,
    cacheMaxEntries: 20,
    cacheMaxAge: KEY_CACHE_MS,
    fetcher: keySetFetcher(now, logger),
  })
  return async kid => {
    if (!kid) throw refused('it does not say which key signed it')
    try {
      const signingKey = await client.getSigningKey(kid)
      const key = read.get(signingKey) ?? createPublicKey(signingKey.getPublicKey())
      read.set(signingKey, key)
      return key
    } catch (error) {
      if (error instanceof jwksClient.SigningKeyNotFoundError) throw refused('the identity provider does not know its key')
      logger.error('the keys of the identity provider cannot be had', { error })
      throw new ApiError('service_unavailable', 'Session tokens cannot be checked at the moment; try again shortly.', { retryAfterS: 5 })
    }
  }
}

/**
 * Fetches the key set at most ten times in a burst and once in six seconds after that, however many unknown keys are named, and serves the
 * last set in between and while the identity provider is down. (The limiter of jwks-rsa would refuse known keys too while it is exhausted.)
 */
function keySetFetcher(now: () => Date, logger: Logger): (url: string) => Promise<{ keys: unknown }> {
  let last: { keys: unknown; at: number } | undefined
  let allowance = FETCHES_MAX
  let refilledAt = now().getTime()
  let fetching: Promise<{ keys: unknown }> | undefined

  const fetchKeys = async (url: string) => {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS), redirect: 'error' })
    if (!response.ok) throw new Error(`The JWKS endpoint answered ${response.status}.`)
    const { keys } = (await response.json()) as { keys: unknown }
    last = { keys, at: now().getTime() }
    return last
  }
  return async url => {
    const at = now().getTime()
    allowance = Math.min(FETCHES_MAX, allowance + Math.max(0, at - refilledAt) / FETCH_REFILL_MS)
    refilledAt = at
    if (last && allowance < 1 && !fetching) return last
    if (!fetching) {
      allowance -= 1
      fetching = fetchKeys(url).finally(() => {
        fetching = undefined
      })
    }
    try {
      return await fetching
    } catch (error) {
      if (!last || at - last.at > KEY_SET_USABLE_MS) throw error
      logger.warn('the identity provider does not answer; its last keys are used', { error })
      return last
    }
  }
}
