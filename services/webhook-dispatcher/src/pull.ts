import type { Cursor, ListEvents } from '@ponte/contracts'
import { cursorAt, type NumberedHistory, numbersReset, type Part, resetOf } from '@ponte/service-kit'
import type { Store } from './store'

/** The gateway waits as much longer for the answer. */
const WAIT_MS_MAX = 20_000
/** An event that another replica stored is found by looking again. */
const RECHECK_MS = 500

export type PullQuery = ListEvents & { after: Cursor }

export interface Pull extends Part {
  /** Events after a cursor, oldest first; waits for the first one as long as the query asks, or until the signal. Throws `events_reset`. */
  next(merchantId: string, query: PullQuery, limit: number, signal: AbortSignal): ReturnType<Store['events']['after']>
  arrived(merchantId: string): void
}

export function createPull(store: Store, now = () => performance.now()): Pull {
  const waiting = new Map<string, Set<() => void>>()
  let stopping = false

  const beforeOldest = async (merchantId: string, { newest }: NumberedHistory) =>
    ((await store.events.oldest(merchantId)) ?? newest + 1) - 1
  const look = (merchantId: string, ms: number, signal: AbortSignal) =>
    new Promise<void>(resolve => {
      const mine = waiting.get(merchantId) ?? new Set()
      const wake = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        mine.delete(wake)
        if (mine.size === 0 && waiting.get(merchantId) === mine) waiting.delete(merchantId)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      signal.addEventListener('abort', wake)
      waiting.set(merchantId, mine)
      mine.add(wake)
    })
  return {
    name: 'pull',
    async next(merchantId, query, limit, signal) {
      const untilMs = now() + Math.min(WAIT_MS_MAX, (query.wait ?? 0) * 1_000)
      for (let { after } = query; ; ) {
        const pulled = await store.events.after(merchantId, { ...query, after: after.sequence }, limit)
        const reset = resetOf(pulled.history, after)
        if (reset !== null) {
          const sequence = reset === 'everything' ? await beforeOldest(merchantId, pulled.history) : reset
          throw numbersReset(pulled.history, sequence, 'events', 'Some that you have may come again, with the same data.')
        }
        const leftMs = untilMs - now()
        if (pulled.rows.length > 0 || pulled.isEnded || leftMs <= 0 || stopping || signal.aborted) return pulled
        after = cursorAt(pulled.history, pulled.lookedTo)
        await look(merchantId, Math.min(RECHECK_MS, leftMs), signal)
      }
    },
    arrived(merchantId) {
      for (const wake of [...(waiting.get(merchantId) ?? [])]) wake()
    },
    async stop() {
      stopping = true
      for (const wakes of [...waiting.values()]) for (const wake of [...wakes]) wake()
    },
  }
}
