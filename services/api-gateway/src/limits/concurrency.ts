import { AsyncResource } from 'node:async_hooks'
import { ApiError } from '@ponte/contracts'
import type { NextFunction, RequestHandler, Response } from 'express'
import pLimit, { type Limit } from 'p-limit'

export interface Concurrency {
  /** Requests of one bucket that are served at once by this replica. */
  running: number
  /** Requests of it that may wait for their turn; more are refused. */
  waiting: number
}

/** Serves a few requests of each bucket at once, and lets the others wait, so that one noisy merchant does not fill what all share. */
export function limitConcurrency({ running, waiting }: Concurrency, bucketOf: (res: Response) => string): RequestHandler {
  const limits = new Map<string, Limit>()
  return (_req, res, next) => {
    const bucket = bucketOf(res)
    const limit = limits.get(bucket) ?? pLimit(running)
    limits.set(bucket, limit)
    // Both, because those that came at one moment are all pending at first.
    if (limit.activeCount + limit.pendingCount >= running + waiting) {
      throw new ApiError('rate_limited', `More than ${running + waiting} requests of this merchant are in flight; wait for some of them.`, {
        retryAfterS: 1,
      })
    }
    // Bound to this request's context: its turn comes when another request ends.
    const served = limit(AsyncResource.bind(() => untilClosed(res, next)))
    void served.finally(() => {
      if (limit.activeCount + limit.pendingCount === 0) limits.delete(bucket)
    })
  }
}

const untilClosed = (res: Response, next: NextFunction) =>
  new Promise<void>(resolve => {
    // The client has gone while it waited.
    if (res.closed || res.destroyed) return resolve()
    res.once('close', resolve)
    next()
  })
