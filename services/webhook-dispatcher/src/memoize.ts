import { LRUCache } from 'lru-cache'

/** Memoizes a pure function; the least recently used of more than `limit` results are dropped. A failure is not kept. */
export function memoize<Key extends readonly string[], Answer extends object | string>(
  limit: number,
  answer: (...key: Key) => Answer,
): (...key: Key) => Answer {
  const cache = new LRUCache<string, Answer>({ max: limit })
  return (...key) => {
    const text = key.join('\n')
    const kept = cache.get(text)
    if (kept !== undefined) return kept
    const made = answer(...key)
    cache.set(text, made)
    return made
  }
}
