import { isDeadlock, isTransient } from './database'
import { detached } from './log-fields'

/**
 * Gathers what is asked for while the one before it runs, and does it together: one statement and one commit for all of that moment,
 * without waiting for company. `work` answers one result per item, in order. A batch that fails is done again one by one, so that an item
 * at fault fails alone; but not when the connection broke, because then nobody knows whether it was done.
 */
export function createBatch<Item, Result>(limit: number, work: (items: readonly Item[]) => Promise<Result[]>) {
  interface Asked {
    item: Item
    resolve(result: Result): void
    reject(error: unknown): void
  }
  const waiting: Asked[] = []
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
      if (asked.length === 1 || (isTransient(error) && !isDeadlock(error))) for (const { reject } of asked) reject(error)
      else for (const each of asked) await together([each])
    }
  }
  const run = async () => {
    running = true
    while (waiting.length > 0) await together(waiting.splice(0, limit))
    running = false
  }
  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!running) void detached(run)
    })
}
