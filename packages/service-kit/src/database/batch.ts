import { withoutContext } from '../observe'
import { isLockedOut, isTransient } from './index'

/** Nothing was done; another time it may be. */
class LateError extends Error {
  override name = 'LateError'
  readonly code = 'ETIMEDOUT'
}

/**
 * Gathers what is asked for while the one before it runs, and does it together: one statement and one commit for all of that moment,
 * without waiting for company. `work` answers one result per item, in order. A batch that fails is done again in halves, so that an item
 * at fault fails alone; but not when the connection broke, because then nobody knows whether it was done. What waited for more than `patienceMs`
 * is refused, since whoever asked for it has gone by then; without a number nothing is.
 */
export function createBatch<Item, Result>(
  limit: number,
  work: (items: readonly Item[]) => Promise<Result[]>,
  patienceMs = Number.POSITIVE_INFINITY,
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
  const run = async () => {
    running = true
    while (waiting.length > 0) {
      const since = performance.now() - patienceMs
      const late = waiting.findIndex(({ askedAt }) => askedAt >= since)
      reject(waiting.splice(0, late < 0 ? waiting.length : late), new LateError('The database has not come to it in time.'))
      if (waiting.length > 0) await together(waiting.splice(0, limit))
    }
    running = false
  }
  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, askedAt: performance.now(), resolve, reject })
      if (!running) void withoutContext(run)
    })
}
