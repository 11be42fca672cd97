import { useSyncExternalStore } from 'react'

const EVENTS = ['online', 'offline'] as const

/** False while the browser knows that it has no connection. True is no evidence that the service answers. */
export const useOnline = (): boolean =>
  useSyncExternalStore(
    listener => {
      for (const event of EVENTS) window.addEventListener(event, listener)
      return () => {
        for (const event of EVENTS) window.removeEventListener(event, listener)
      }
    },
    () => navigator.onLine,
  )
