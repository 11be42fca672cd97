import { createPublicKey, type KeyObject } from 'node:crypto'
import { ApiError } from '@ponte/contracts'
import type { Logger } from '@ponte/service-kit'
import jwksClient from 'jwks-rsa'
import { readJson } from '../read-body'

const FETCH_TIMEOUT_MS = 5_000
const KEY_CACHE_MS = 10 * 60_000
/** Longest use of the last key set while the identity provider does not answer. */
const KEY_SET_USABLE_MS = 60 * 60_000
const KEY_SET_BYTES_MAX = 256 * 1024
const FETCHES_MAX = 10
const FETCH_REFILL_MS = 6_000

export interface KeyFinderOptions {
  now: () => Date
  logger: Logger
  /** The error for a token whose key cannot be named or found. */
  refused(why: string): ApiError
}

/** Finds a public key by its id: known ones from memory, unknown ones from the identity provider. */
export function keyFinder(jwksUrl: string, { now, logger, refused }: KeyFinderOptions): (kid: unknown) => Promise<KeyObject> {
  // Parsing a key costs more than verifying a signature with it.
  const parsed = new WeakMap<object, KeyObject>()
  const client = jwksClient({
    jwksUri: jwksUrl,
    cache: true,
    cacheMaxEntries: 20,
    cacheMaxAge: KEY_CACHE_MS,
    fetcher: keySetFetcher(now, logger),
  })
  return async kid => {
    if (typeof kid !== 'string' || kid === '') throw refused('it does not name the key that signed it')
    try {
      const signingKey = await client.getSigningKey(kid)
      const key = parsed.get(signingKey) ?? createPublicKey(signingKey.getPublicKey())
      parsed.set(signingKey, key)
      return key
    } catch (error) {
      if (error instanceof jwksClient.SigningKeyNotFoundError) throw refused('the identity provider does not know its key')
      logger.error('fetching the identity provider keys failed', { error })
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
    const { keys } = (await readJson(response, KEY_SET_BYTES_MAX)) as { keys: unknown }
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
      logger.warn('the identity provider does not answer; using the last key set', { error })
      return last
    }
  }
}
