import { AsyncResource } from 'node:async_hooks'
import { ApiError } from '@ponte/contracts'
import type { RequestHandler, Response } from 'express'
import { type Concurrency, createTurns, type Presence } from './turns'

/** Serves a few requests of each bucket at once, and lets the others wait, so that one noisy merchant does not fill what all share. */
export function limitConcurrency(concurrency: Concurrency, presence: Presence, bucketOf: (res: Response) => string): RequestHandler {
  const turns = createTurns(concurrency, presence)
  const inFlightMax = concurrency.running + concurrency.waiting
  return (_req, res, next) => {
    // The client has gone while its credential was checked.
    if (res.closed || res.destroyed) return
    // Bound to this request's context: its turn comes when another request ends.
    const end = turns.take(
      bucketOf(res),
      AsyncResource.bind(() => next()),
    )
    if (end === null) {
      throw new ApiError('rate_limited', `More than ${inFlightMax} requests of this merchant are in flight; wait for some of them.`, {
        retryAfterS: 1,
      })
    }
    res.once('close', () => {
      const work: Promise<unknown> | undefined = res.locals.work
      if (!work) return end()
      // A client that hangs up would have its owner work for more than may run.
      work.then(end, end)
    })
  }
}
