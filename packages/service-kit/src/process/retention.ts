import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../observe/logger'
import { every, type Loop } from './every'

const EVERY_MS = 3_600_000
/** Rows of one part: a statement so short that what is served beside it hardly meets it. */
const PART = 500
/** A part is followed by a rest so many times as long, so that deleting takes a small share of the database however slow that is. */
const REST = 4

/** A part's deletions: fewer rows than it found when another replica was at the same ones. `place` is where the last one found stands in the table's order. */
export interface Removed<Place> {
  count: number
  last: Place | null
}

/**
 * Removes what is old, at start and once an hour, the oldest first, part by part until nothing old is left, with a rest after each part. `remove` deletes at most
 * `limit` rows from the place on at which the part before ended: what that left in the index is not walked through again. Of replicas that meet, one goes on. Why
 * parts: docs/decisions/0019-old-rows-are-deleted-in-parts.md.
 */
export function retention<Place>(
  name: string,
  remove: (limit: number, after: Place | null) => Promise<Removed<Place>>,
  logger: Logger,
): Loop {
  let after: Place | null = null
  return every(
    name,
    EVERY_MS,
    async signal => {
      const began = performance.now()
      const { count, last } = await remove(PART, after)
      const hasMore = count >= PART
      after = hasMore ? last : null
      if (hasMore) await pause((performance.now() - began) * REST, undefined, { signal })
      return hasMore
    },
    logger,
  )
}
