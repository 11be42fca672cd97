import { ApiError } from '@ponte/contracts'
import { LRUCache } from 'lru-cache'

/** A replica's share before it asks again, and the rest for all. */
export interface Lease {
  granted: number
  remaining: number
  resetsInMs: number
}

export interface Verdict {
  allowed: boolean
  limit: number
  remaining: number
  resetsInMs: number
}

/** The refusal of a bucket that is used up. */
export function rateLimited({ resetsInMs }: Pick<Verdict, 'resetsInMs'>, what: string): ApiError {
  const retryAfterS = Math.max(1, Math.ceil(resetsInMs / 1_000))
  return new ApiError('rate_limited', `${what}; wait ${retryAfterS} s.`, { retryAfterS })
}

interface LeasedBucket {
  left: number
  remaining: number
  endsAt: number
  /** Set while a lease is fetched; concurrent requests share it. */
  fetching?: Promise<void>
}

const BUCKETS_MAX = 100_000
export const WINDOW_MS = 60_000

/**
 * A limit over all replicas together: each leases a part of the window's allowance from the database and spends it from memory.
 * Exact as an upper bound; up to a ninth of it may lie unused in a replica that a caller has left.
 */
export function sharedLimit(limit: number, lease: (bucket: string, limit: number) => Promise<Lease>, clock: () => number) {
  const buckets = new LRUCache<string, LeasedBucket>({ max: BUCKETS_MAX })

  const renew = async (name: string, bucket: LeasedBucket) => {
    const { granted, remaining, resetsInMs } = await lease(name, limit)
    Object.assign(bucket, { left: granted, remaining, endsAt: clock() + resetsInMs })
  }
  return async (name: string): Promise<Verdict> => {
    const bucket = buckets.get(name) ?? { left: 0, remaining: 1, endsAt: 0 }
    buckets.set(name, bucket)
    // The rest of a lease ends with its window.
    const isOver = () => clock() >= bucket.endsAt
    while (isOver() || (bucket.left === 0 && bucket.remaining > 0)) {
      bucket.fetching ??= renew(name, bucket).finally(() => {
        delete bucket.fetching
      })
      await bucket.fetching
    }
    const allowed = bucket.left > 0
    if (allowed) bucket.left -= 1
    return { allowed, limit, remaining: bucket.left + bucket.remaining, resetsInMs: Math.max(0, bucket.endsAt - clock()) }
  }
}

/** A limit of failures alone: each attempt counts until it is taken back, so that attempts at one moment do not pass together. */
export function failureLimit(limit: number, clock: () => number) {
  const take = localLimit(limit, clock)
  return { take: (name: string) => take(name), succeeded: (name: string) => void take(name, -1) }
}

/** A limit per replica, without the database: for callers that are not authenticated yet. */
export function localLimit(limit: number, clock: () => number) {
  const buckets = new LRUCache<string, { used: number; endsAt: number }>({ max: BUCKETS_MAX })
  return (name: string, count = 1): Verdict => {
    const bucket = buckets.get(name) ?? { used: 0, endsAt: 0 }
    buckets.set(name, bucket)
    const now = clock()
    if (now >= bucket.endsAt) Object.assign(bucket, { used: 0, endsAt: now + WINDOW_MS })
    bucket.used = Math.max(0, bucket.used + count)
    return { allowed: bucket.used <= limit, limit, remaining: Math.max(0, limit - bucket.used), resetsInMs: bucket.endsAt - now }
  }
}
