import { Mutex } from 'async-mutex'

/**
 * A mutex for each key. Within a process it spares writes of the same order lost races; between processes the order's version still decides.
 */
export function keyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const mutexes = new Map<string, Mutex>()
  return async (key, work) => {
    const mutex = mutexes.get(key) ?? new Mutex()
    mutexes.set(key, mutex)
    try {
      return await mutex.runExclusive(work)
    } finally {
      // One that waited has taken it by now.
      if (!mutex.isLocked()) mutexes.delete(key)
    }
  }
}
