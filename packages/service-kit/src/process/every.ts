import { withoutContext } from '../observe/log-fields'
import type { Logger } from '../observe/logger'
import type { Part } from './service'

export interface Loop extends Part {
  /** Runs the work now, or once more right after the running one: what woke it may have come too late for that one. */
  wake(): void
}

/**
 * Work that repeats: every `intervalMs` and whenever it is woken, never twice at once. A failure is logged and tried again at the next turn.
 * `work` may answer `true` when there is more to do at once. Stopping waits for the running turn.
 */
export function every(name: string, intervalMs: number, work: (signal: AbortSignal) => Promise<unknown>, logger: Logger): Loop {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  const aborted = new AbortController()
  aborted.signal.addEventListener('abort', () => clearTimeout(timer))

  const turn = async () => {
    do {
      again = false
      try {
        again = (await work(aborted.signal)) === true || again
      } catch (error) {
        if (!aborted.signal.aborted) logger.error(`${name} failed and will be tried again`, { error })
        again = false
      }
    } while (again && !aborted.signal.aborted)
  }
  const wake = () => {
    again = true
    if (running || !timer || aborted.signal.aborted) return
    clearTimeout(timer)
    running = withoutContext(() =>
      turn().finally(() => {
        running = undefined
        if (aborted.signal.aborted) return
        // A call after the loop's last look must not wait for the next turn.
        if (again) wake()
        else timer = setTimeout(wake, intervalMs)
      }),
    )
  }
  return {
    name,
    wake,
    busy: () => running !== undefined,
    async start() {
      timer = setTimeout(wake, 0)
    },
    async stop() {
      aborted.abort()
      await running
    },
  }
}
