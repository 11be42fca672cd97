import type { CheckoutBody } from '@ponte/contracts'
import { useEffect, useState } from 'react'
import { ask, RequestFailed } from '../../problem'

export interface LiveCheckout {
  checkout: CheckoutBody | null
  /** Why there is nothing to show: no such order, or no server answers yet. */
  failure: RequestFailed | null
  /** False while the stream is broken; what is shown may be old. */
  live: boolean
  /** The server's clock minus ours. */
  clockOffsetMs: number
}

const RETRY_MS = 3_000
const DATE_HEADER_ROUNDS_MS = 1_000

/** An order as its payer may see it: once, then every change as it happens. Broken streams are opened again for as long as the page is. */
export function useLiveCheckout(orderId: string): LiveCheckout {
  const [state, setState] = useState<LiveCheckout>({ checkout: null, failure: null, live: true, clockOffsetMs: 0 })
  useEffect(() => follow(orderId, setState), [orderId])
  return state
}

function follow(orderId: string, set: (change: (state: LiveCheckout) => LiveCheckout) => void): () => void {
  const path = `/api/v1/checkout/${encodeURIComponent(orderId)}`
  const gone = new AbortController()
  let stream: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  const again = () => {
    clearTimeout(timer)
    if (!gone.signal.aborted) timer = setTimeout(look, RETRY_MS)
  }
  const look = async () => {
    try {
      const { body, answeredAt } = await ask<CheckoutBody>(path, { signal: gone.signal })
      const clockOffsetMs = answeredAt === null ? 0 : answeredAt + DATE_HEADER_ROUNDS_MS / 2 - Date.now()
      set(state => ({ ...state, checkout: body, failure: null, live: navigator.onLine, clockOffsetMs }))
      listen()
    } catch (error) {
      if (gone.signal.aborted || !(error instanceof RequestFailed)) return
      const final = error.status === 404 || error.status === 400
      set(state => ({ ...state, live: false, failure: state.checkout && !final ? null : error }))
      if (!final) again()
    }
  }
  const listen = () => {
    stream?.close()
    stream = new EventSource(`${path}/stream`)
    stream.addEventListener('checkout', event => {
      const checkout = JSON.parse(String(event.data)) as CheckoutBody
      // A message that was on its way when the connection closed is no evidence about the connection.
      set(state => ({ ...state, checkout, live: navigator.onLine, failure: null }))
    })
    // Nothing more is expected; the browser would open it again.
    stream.addEventListener('end', () => stream?.close())
    stream.onerror = () => {
      set(state => ({ ...state, live: false }))
      // A broken line is repaired by the browser; an answer other than 200 ends the stream for good.
      if (stream?.readyState === EventSource.CLOSED) again()
    }
  }
  // A phone that slept may hold a stream that is dead without knowing.
  const wake = () => {
    if (document.visibilityState === 'visible') void look()
  }
  // A stream that was open when the connection went may stay silent without an error.
  const lost = () => set(state => ({ ...state, live: false }))
  document.addEventListener('visibilitychange', wake)
  window.addEventListener('offline', lost)
  window.addEventListener('online', wake)
  void look()
  return () => {
    gone.abort()
    clearTimeout(timer)
    stream?.close()
    document.removeEventListener('visibilitychange', wake)
    window.removeEventListener('offline', lost)
    window.removeEventListener('online', wake)
  }
}
