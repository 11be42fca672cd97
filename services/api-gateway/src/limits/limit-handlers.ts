import type { RequestHandler, Response } from 'express'
import { addressBucket } from './address-bucket'
import { rateLimited, type Verdict, WINDOW_MS } from './rate-limit'

/** Limits an address before anything is read of its request. */
export const limitAddress =
  (take: (bucket: string) => Verdict): RequestHandler =>
  (req, res, next) => {
    enforce(take(addressBucket(req.ip ?? '')), res, 'this address')
    next()
  }

/** Limits a caller whose credential has been checked. */
export const limitCaller =
  (take: (bucket: string) => Promise<Verdict>, bucketOf: (res: Response) => string): RequestHandler =>
  async (_req, res, next) => {
    enforce(await take(bucketOf(res)), res, 'this credential')
    next()
  }

/** Limits an address at one payment link. A token is the same in whatever case it is written. */
export const limitOpenings =
  (take: (bucket: string) => Verdict): RequestHandler =>
  (req, res, next) => {
    enforce(take(`${addressBucket(req.ip ?? '')} ${String(req.params.payer_token).toLowerCase()}`), res, 'this address by this link')
    next()
  }

export function enforce(verdict: Verdict, res: Response, who: string): void {
  const { allowed, limit, remaining, resetsInMs } = verdict
  res.setHeader('RateLimit-Policy', `${limit};w=${WINDOW_MS / 1000}`)
  res.setHeader('RateLimit-Limit', String(limit))
  res.setHeader('RateLimit-Remaining', String(remaining))
  res.setHeader('RateLimit-Reset', String(Math.max(1, Math.ceil(resetsInMs / 1_000))))
  if (!allowed) throw rateLimited(verdict, `More than ${limit} requests a minute came from ${who}`)
}
