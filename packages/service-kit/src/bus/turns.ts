export interface Turns {
  /** Resolves when the caller may go on, which ends with `release`. A caller that waits goes on in its own context. */
  take(merchantId: string | null): Promise<void>
  release(): void
}

/** Lets `count` go on at once. Where more wait, merchants take turns, so that the thousands of one hold up no other; what is no merchant's is one more. */
export function createTurns(count: number): Turns {
  let free = count
  /** By merchant; the next to be served stands first. */
  const waiting = new Map<string | null, (() => void)[]>()
  return {
    take: merchantId =>
      new Promise(goOn => {
        if (free > 0) {
          free -= 1
          return goOn()
        }
        const line = waiting.get(merchantId)
        line ? line.push(goOn) : waiting.set(merchantId, [goOn])
      }),
    release() {
      const [next] = waiting
      if (next === undefined) {
        free += 1
        return
      }
      const [merchantId, line] = next
      waiting.delete(merchantId)
      const goOn = line.shift()
      if (line.length > 0) waiting.set(merchantId, line)
      goOn?.()
    },
  }
}
