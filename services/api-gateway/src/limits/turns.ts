export interface Concurrency {
  /** Requests of one bucket that this replica serves at once. */
  running: number
  /** The same of a bucket that asks for more than that, while others ask too; `running` when it is not given. */
  contended?: number
  /** Requests of one bucket that may wait for their turn; more are refused. */
  waiting: number
}

export interface Presence {
  /** A request of this bucket comes or ends, and none of it waits. */
  note(bucket: string): void
  /** Whether another bucket was noted within the last second. */
  isBeside(bucket: string): boolean
}

const RECENT_MS = 1_000

/** The latest bucket and the latest other one answer the question for every bucket. */
export function createPresence(clock: () => number): Presence {
  let latest = { bucket: '', at: Number.NEGATIVE_INFINITY }
  let other = latest
  return {
    note(bucket) {
      if (bucket !== latest.bucket) other = latest
      latest = { bucket, at: clock() }
    },
    isBeside(bucket) {
      const { at } = latest.bucket === bucket ? other : latest
      // A clock that was put back must not make one of them present for as long.
      return Math.abs(clock() - at) < RECENT_MS
    },
  }
}

interface Queue {
  running: number
  waiting: Set<() => void>
}

/**
 * Serves a few requests of each bucket at once, the others in the order they came. A bucket that asks for more than `running` is served at its full speed only
 * while no other asks: what it has running is what the others' requests share processors and databases with.
 */
export function createTurns({ running, contended = running, waiting }: Concurrency, presence: Presence) {
  const queues = new Map<string, Queue>()

  const admit = (bucket: string, queue: Queue) => {
    const inFlight = queue.running + queue.waiting.size
    if (inFlight <= running) presence.note(bucket)
    const bound = inFlight > running && presence.isBeside(bucket) ? Math.min(contended, running) : running
    for (const start of queue.waiting) {
      if (queue.running >= bound) break
      queue.waiting.delete(start)
      queue.running += 1
      start()
    }
    if (inFlight === 0) queues.delete(bucket)
  }
  return {
    /** Calls `start` when it is this request's turn. Answers what is to be called, once, when the request ends or its client goes; null when too many wait. */
    take(bucket: string, start: () => void): (() => void) | null {
      const queue = queues.get(bucket) ?? { running: 0, waiting: new Set() }
      if (queue.running + queue.waiting.size >= running + waiting) return null
      queues.set(bucket, queue)
      queue.waiting.add(start)
      admit(bucket, queue)
      return () => {
        if (!queue.waiting.delete(start)) queue.running -= 1
        admit(bucket, queue)
      }
    },
  }
}
