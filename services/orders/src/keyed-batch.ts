import { isTransient } from '@ponte/service-kit'
import { Mutex } from 'async-mutex'

/**
 * Work on the items of one key follows; what has come meanwhile is done together, by the first of the callers that waited. A batch that fails is left to
 * its callers, so that an item at fault fails alone. Within a process it spares writes of the same order lost races; between processes the order's
 * version still decides.
 */
export function keyedBatch<Item>(work: (key: string, items: readonly Item[]) => Promise<void>): (key: string, item: Item) => Promise<void> {
  const keys = new Map<string, { mutex: Mutex; waiting: Set<Item> }>()
  return async (key, item) => {
    const { mutex, waiting } = keys.get(key) ?? { mutex: new Mutex(), waiting: new Set<Item>() }
    keys.set(key, { mutex, waiting })
    waiting.add(item)
    try {
      await mutex.runExclusive(async () => {
        if (!waiting.has(item)) return
        const items = [...waiting]
        waiting.clear()
        try {
          await work(key, items)
        } catch (error) {
          const others = items.filter(other => other !== item)
          for (const other of others) waiting.add(other)
          if (others.length === 0 || isTransient(error)) throw error
          await work(key, [item])
        }
      })
    } finally {
      // One that waited has taken it by now.
      if (!mutex.isLocked()) keys.delete(key)
    }
  }
}
