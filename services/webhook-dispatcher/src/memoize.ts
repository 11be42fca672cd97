/** Memoizes a pure function: at most `limit` results, then the cache is cleared. A failure is not kept. */
export function memoize<Key extends readonly string[], Answer>(limit: number, answer: (...key: Key) => Answer): (...key: Key) => Answer {
  const known = new Map<string, Answer>()
  return (...key) => {
    const text = key.join('\n')
    const kept = known.get(text)
    if (kept !== undefined) return kept
    const made = answer(...key)
    if (known.size >= limit) known.clear()
    known.set(text, made)
    return made
  }
}
