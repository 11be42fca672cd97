/** Whether a node bears more by now is tried so long after it refused. */
const RETRY_MS = 600_000
/** No question has more. */
const CALLS_MAX = 100

export type BatchLimit = ReturnType<typeof createBatchLimit>

/** Calls that a node takes in one request: any number until it refuses, then the number it states, or half of the refused one. */
export function createBatchLimit(clock: () => number) {
  let limit = CALLS_MAX
  let refusedAt = Number.NEGATIVE_INFINITY
  return {
    calls(): number {
      if (limit < CALLS_MAX && clock() - refusedAt >= RETRY_MS) {
        limit = Math.min(CALLS_MAX, limit * 2)
        refusedAt = clock()
      }
      return limit
    },
    /** Fewer than were refused. What the node states in answer to one call more than it takes is believed. */
    smaller: (refused: number, suggested?: number): number =>
      suggested !== undefined && suggested < refused ? suggested : Math.max(1, Math.floor(refused / 2)),
    /** Kept once a smaller batch was answered: what is refused whatever its size is no matter of size. */
    learned(calls: number): void {
      limit = Math.min(limit, calls)
      refusedAt = clock()
    },
    /** Null while nothing was refused. */
    view: (): number | null => (limit < CALLS_MAX ? limit : null),
  }
}

/** In pieces of so many, of which the last ones are full: what is asked last belongs together. */
export function inPieces<T>(items: readonly T[], size: number): T[][] {
  const pieces: T[][] = []
  for (let end = items.length; end > 0; end -= size) pieces.unshift(items.slice(Math.max(0, end - size), end))
  return pieces
}
