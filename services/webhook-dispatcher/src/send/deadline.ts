/** One moment at which everything about an attempt is over, whatever the other side still sends. */
export interface Deadline {
  passed(): boolean
  onPass(end: () => void): void
  clear(): void
}

export function createDeadline(ms: number): Deadline {
  const ends: (() => void)[] = []
  let passed = false
  const timer = setTimeout(() => {
    passed = true
    for (const end of ends) end()
  }, ms)
  return { passed: () => passed, onPass: end => void ends.push(end), clear: () => clearTimeout(timer) }
}
