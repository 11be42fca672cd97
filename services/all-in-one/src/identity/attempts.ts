import { LRUCache } from 'lru-cache'

const WINDOW_MS = 5 * 60_000
const KEYS_MAX = 10_000

/** Counts attempts of each key in a window that begins with the first one. */
export function attemptLimit(max: number, clock: () => number = () => performance.now()) {
  const attempts = new LRUCache<string, number>({
    max: KEYS_MAX,
    ttl: WINDOW_MS,
    noUpdateTTL: true,
    ttlResolution: 0,
    perf: { now: clock },
  })
  return {
    take(key: string): boolean {
      const count = (attempts.get(key) ?? 0) + 1
      attempts.set(key, count)
      return count <= max
    },
    /** Takes one back: the attempt was a good one. */
    refund: (key: string) => void attempts.set(key, Math.max(0, (attempts.get(key) ?? 0) - 1)),
  }
}
