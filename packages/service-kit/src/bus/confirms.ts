export type Answer = (error?: Error | null) => void

export interface Confirms {
  /** Sends, and resolves or rejects with the answer that `send` gets; rejects when none comes in time, or when sending throws. */
  wait(id: string, send: (answer: Answer) => void): Promise<void>
  /** Rejects the oldest that waits under this id; a later answer is ignored. */
  refuse(id: string, error: Error): void
}

/** Publications that the broker has not answered yet. One message may be published twice at once: each waits for its own answer. */
export function openConfirms(timeoutMs: number): Confirms {
  const waiting = new Map<string, Answer[]>()
  return {
    wait: (id, send) =>
      new Promise((resolve, reject) => {
        const mine = waiting.get(id) ?? []
        const settle: Answer = error => {
          clearTimeout(timer)
          const place = mine.indexOf(settle)
          if (place >= 0) mine.splice(place, 1)
          if (mine.length === 0 && waiting.get(id) === mine) waiting.delete(id)
          error ? reject(error) : resolve()
        }
        const timer = setTimeout(() => settle(new Error('The broker did not confirm in time.')), timeoutMs)
        waiting.set(id, mine)
        mine.push(settle)
        try {
          send(settle)
        } catch (error) {
          settle(error instanceof Error ? error : new Error(String(error)))
        }
      }),
    refuse: (id, error) => waiting.get(id)?.[0]?.(error),
  }
}
