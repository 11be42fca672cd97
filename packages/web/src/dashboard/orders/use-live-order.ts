import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

/** Without a stream, and while what a change brings about, such as its webhook, still goes on. */
const BUSY_MS = 3_000
/** Fields that a payer does not see change without a word of the stream. */
const QUIET_MS = 30_000
const FOLLOWED_MS = 20_000
const KEYS = ['order', 'order-events', 'refunds', 'recoveries']

/** Looks at an order again whenever its checkout changes, and answers how often to look besides. */
export function useLiveOrder(id: string): number {
  const queries = useQueryClient()
  const [intervalMs, setIntervalMs] = useState(BUSY_MS)
  useEffect(() => {
    const stream = new EventSource(`/api/v1/checkout/${encodeURIComponent(id)}/stream`)
    let timer: ReturnType<typeof setTimeout> | undefined
    let isFirst = true
    const pace = (ms: number) => {
      clearTimeout(timer)
      setIntervalMs(ms)
    }
    stream.addEventListener('checkout', () => {
      for (const key of KEYS) void queries.invalidateQueries({ queryKey: [key, id] })
      pace(isFirst ? QUIET_MS : BUSY_MS)
      if (!isFirst) timer = setTimeout(setIntervalMs, FOLLOWED_MS, QUIET_MS)
      isFirst = false
    })
    // The browser would open it again.
    stream.addEventListener('end', () => stream.close())
    stream.onerror = () => pace(BUSY_MS)
    return () => {
      clearTimeout(timer)
      stream.close()
    }
  }, [id, queries])
  return intervalMs
}
