const POLL_MS_MIN = 25
const POLL_MS_MAX = 250

export type OrderWaits = ReturnType<typeof createOrderWaits>

/**
 * Waits for orders to create an order that was asked for. Any replica may receive that event, so the database is polled; the replica that
 * receives it wakes its own waiting requests at once.
 */
export function createOrderWaits(orderBody: (orderId: string) => Promise<string | null>) {
  const waiters = new Map<string, Set<() => void>>()
  const pause = (orderId: string, ms: number) =>
    new Promise<void>(resolve => {
      const waiting = waiters.get(orderId) ?? new Set()
      const done = () => {
        clearTimeout(timer)
        waiting.delete(done)
        if (waiting.size === 0) waiters.delete(orderId)
        resolve()
      }
      const timer = setTimeout(done, ms)
      waiters.set(orderId, waiting.add(done))
    })
  return {
    /** Wakes the requests that wait for this order: its body is in the database now. */
    created(orderId: string): void {
      for (const wake of [...(waiters.get(orderId) ?? [])]) wake()
    },
    /** The order's body as it was created, or null when it has not come within `timeoutMs`. */
    async wait(orderId: string, timeoutMs: number): Promise<string | null> {
      const deadline = Date.now() + timeoutMs
      // Asked less and less often: while orders is down, many may be waiting at once.
      for (let pollMs = POLL_MS_MIN; ; pollMs = Math.min(pollMs * 1.5, POLL_MS_MAX)) {
        const body = await orderBody(orderId)
        const leftMs = deadline - Date.now()
        if (body !== null || leftMs <= 0) return body
        await pause(orderId, Math.min(pollMs, leftMs))
      }
    },
  }
}
