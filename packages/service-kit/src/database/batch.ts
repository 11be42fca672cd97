import { withoutContext } from '../observe/log-fields'
import { isLockedOut, isTransient } from './errors'

/** Nothing was done; another time it may be. */
class LateError extends Error {
  override name = 'LateError'
  readonly code = 'ETIMEDOUT'
}

/** Most writes that one statement commits together. */
export const GROUP_COMMIT_MAX = 200
/** Shorter than the gateway waits for an answer: nothing is written that its caller already takes for failed. */
const GROUP_COMMIT_WAIT_MS = 8_000

/**
 * Group commit: writes of one moment share one statement, `GROUP_COMMIT_MAX` at most and no two with the same `keyOf`; the second waits for the
 * next statement, so that a versioned update takes one record a row.
 */
export const groupCommit = <Item, Result>(work: (items: readonly Item[]) => Promise<Result[]>, keyOf?: (item: Item) => string) =>
  createBatch(GROUP_COMMIT_MAX, work, GROUP_COMMIT_WAIT_MS, keyOf)

/**
 * Gathers what is asked for while the one before it runs, and does it together: one statement and one commit for all of that moment,
 * without waiting for company. `work` answers one result per item, in order. A batch that fails is done again in halves, so that an item
 * at fault fails alone; but not when the connection broke, because then it may have been done. What waited for more than `waitMs`
 * is refused, since its caller has given up by then.
 */
export function createBatch<Item, Result>(
  limit: number,
  work: (items: readonly Item[]) => Promise<Result[]>,
  waitMs = Number.POSITIVE_INFINITY,
  keyOf?: (item: Item) => string,
) {
  interface Asked {
    item: Item
    askedAt: number
    resolve(result: Result): void
    reject(error: unknown): void
  }
  const waiting: Asked[] = []
  const reject = (asked: readonly Asked[], error: unknown) => {
    for (const each of asked) each.reject(error)
  }
  let running = false

  const together = async (asked: readonly Asked[]): Promise<void> => {
    try {
      const results = await work(asked.map(({ item }) => item))
      for (const [index, { resolve, reject }] of asked.entries()) {
        const result = results[index]
        if (result === undefined) reject(new Error('A batch answered fewer results than items.'))
        else resolve(result)
      }
    } catch (error) {
      if (asked.length === 1 || (isTransient(error) && !isLockedOut(error))) return reject(asked, error)
      const half = Math.ceil(asked.length / 2)
      await together(asked.slice(0, half))
      await together(asked.slice(half))
    }
  }
  /** The oldest of each key; the rest keeps its order. */
  const takeDistinct = (keyOf: (item: Item) => string): Asked[] => {
    const taken = new Map<string, Asked>()
    for (const asked of waiting) {
      if (taken.size === limit) break
      const key = keyOf(asked.item)
      if (!taken.has(key)) taken.set(key, asked)
    }
    const isTaken = new Set(taken.values())
    waiting.splice(0, waiting.length, ...waiting.filter(asked => !isTaken.has(asked)))
    return [...isTaken]
  }
  const run = async () => {
    running = true
    while (waiting.length > 0) {
      const since = performance.now() - waitMs
      const inTime = waiting.findIndex(({ askedAt }) => askedAt >= since)
      const late = waiting.splice(0, inTime < 0 ? waiting.length : inTime)
      if (late.length > 0) reject(late, new LateError('The database has not come to it in time.'))
      if (waiting.length > 0) await together(keyOf ? takeDistinct(keyOf) : waiting.splice(0, limit))
    }
    running = false
  }
  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, askedAt: performance.now(), resolve, reject })
      if (!running) void withoutContext(run)
    })
}
