import type { PayerSubscriptionBody } from '@ponte/contracts'
import { useCallback } from 'react'
import { ask, RequestFailed } from '../../problem'
import { useAskedAgain } from '../live/use-asked-again'

const REFRESH_MS = 15_000
/** While an invoice is being prepared. */
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

const pauseMs = (body: PayerSubscriptionBody) => (isPreparing(body) ? SOON_MS : REFRESH_MS)

/** A subscription as its payer may see it, asked for again while the page is looked at. */
export function usePayerSubscription(token: string): PayerSubscription {
  const path = `/api/v1/payer/subscriptions/${encodeURIComponent(token)}`
  const { body: subscription, failure, setBody } = useAskedAgain<PayerSubscriptionBody>(path, pauseMs)
  const openOrder = useCallback(async () => {
    try {
      const { body } = await ask<PayerSubscriptionBody>(`${path}/order`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      setBody(body)
      return body
    } catch (error) {
      if (error instanceof RequestFailed) return REASONS.includes(error.code) ? 'refused' : 'unanswered'
      throw error
    }
  }, [path, setBody])
  return { subscription, failure, openOrder }
}

export const isPreparing = ({ due }: PayerSubscriptionBody): boolean => due !== null && due.checkout_url === null && !due.can_be_asked
