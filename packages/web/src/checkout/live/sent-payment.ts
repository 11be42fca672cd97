import type { AuthorizePayment } from '@ponte/contracts'
import { useCallback, useMemo, useSyncExternalStore } from 'react'
import { remember, remembered } from '../../memory'

/** A payment that left from this browser and that the network has not shown us yet. Kept over reloads and seen by every tab. */
export interface SentPayment {
  /** Null when the payer signed and the service submits, and while the wallet has only named its calls. */
  hash: string | null
  /** The wallet's name of the calls that pay. */
  calls?: string | undefined
  /** The payer's signature, when the service submits; it can pay this order and nothing else. */
  authorization: AuthorizePayment | null
  payer: string
  at: number
  /** Sum received before it, so that its arrival is noticed. */
  receivedBefore: string
}

const keyOf = (orderId: string) => `ponte.sent.${orderId}`
const listeners = new Set<() => void>()
const notify = () => {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

export function useSentPayment(orderId: string): [SentPayment | null, (sent: SentPayment | null) => void] {
  const text = useSyncExternalStore(subscribe, () => remembered(keyOf(orderId)))
  const keep = useCallback(
    (sent: SentPayment | null) => {
      remember(keyOf(orderId), sent && JSON.stringify(sent))
      notify()
    },
    [orderId],
  )
  // The same payment stays the same object: who watches over it is not disturbed by the countdown.
  return [useMemo(() => read(text), [text]), keep]
}

function read(text: string | null): SentPayment | null {
  if (text === null) return null
  try {
    const sent = JSON.parse(text) as Partial<SentPayment> | null
    const { payer, at, receivedBefore, hash = null, authorization = null, calls } = sent ?? {}
    return payer && at && receivedBefore ? { payer, at, receivedBefore, hash, authorization, calls } : null
  } catch {
    return null
  }
}

/** Runs `work` unless another tab of this browser is paying the same order. */
export async function inOneTab<T>(orderId: string, work: () => Promise<T>, busy: () => Promise<T>): Promise<T> {
  if (!('locks' in navigator)) return work()
  return navigator.locks.request(`ponte.pay.${orderId}`, { ifAvailable: true }, lock => (lock ? work() : busy()))
}
