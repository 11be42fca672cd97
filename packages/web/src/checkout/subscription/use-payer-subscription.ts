import type { PayerSubscriptionBody } from '@ponte/contracts'
import { useCallback, useEffect, useState } from 'react'
import { ask, RequestFailed } from '../../problem'

const REFRESH_MS = 15_000
/** While an invoice is being prepared, or no server answers. */
const SOON_MS = 3_000

export interface PayerSubscription {
  subscription: PayerSubscriptionBody | null
  failure: RequestFailed | null
  /** Has the order opened that is due. Answers the view after it, or why there is none. */
  openOrder(): Promise<PayerSubscriptionBody | NotOpened>
}

/** The service has reasons to open none; or it did not answer, and may have opened one. */
export type NotOpened = 'refused' | 'unanswered'

const REASONS = ['not_due', 'invalid_state']

/** A subscription as its payer may see it, asked for again while the page is looked at. */
export function usePayerSubscription(token: string): PayerSubscription {
  const path = `/api/v1/payer/subscriptions/${encodeURIComponent(token)}`
  const [subscription, setSubscription] = useState<PayerSubscriptionBody | null>(null)
  const [failure, setFailure] = useState<RequestFailed | null>(null)
  useEffect(() => {
    const gone = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      clearTimeout(timer)
      const again = await ask<PayerSubscriptionBody>(path, { signal: gone.signal }).then(
        ({ body }) => {
          setSubscription(body)
          setFailure(null)
          return isPreparing(body) ? SOON_MS : REFRESH_MS
        },
        error => {
          if (!(error instanceof RequestFailed)) return null
          setFailure(error)
          return error.status === 404 || error.status === 400 ? null : SOON_MS
        },
      )
      if (again !== null && !gone.signal.aborted) timer = setTimeout(seen, again)
    }
    const seen = () => {
      if (document.visibilityState === 'visible') void look()
    }
    document.addEventListener('visibilitychange', seen)
    void look()
    return () => {
      gone.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [path])
  const openOrder = useCallback(async () => {
    try {
      const { body } = await ask<PayerSubscriptionBody>(`${path}/order`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      setSubscription(body)
      return body
    } catch (error) {
      if (error instanceof RequestFailed) return REASONS.includes(error.code) ? 'refused' : 'unanswered'
      throw error
    }
  }, [path])
  return { subscription, failure, openOrder }
}

export const isPreparing = ({ due }: PayerSubscriptionBody): boolean => due !== null && due.checkout_url === null && !due.can_be_asked
