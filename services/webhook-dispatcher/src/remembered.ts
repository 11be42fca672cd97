/** A pure function that knows its latest answers: at most `limit` of them, then it begins anew. A failure is not an answer. */
export function remembered<Key extends readonly string[], Answer>(limit: number, answer: (...key: Key) => Answer): (...key: Key) => Answer {
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
