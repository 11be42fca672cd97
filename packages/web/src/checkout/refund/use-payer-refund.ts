import type { ClaimRefund, PayerRefundBody } from '@ponte/contracts'
import { useCallback } from 'react'
import { ask, type RequestFailed } from '../../problem'
import { useAskedAgain } from '../live/use-asked-again'

const REFRESH_MS = 5_000

export interface PayerRefund {
  refund: PayerRefundBody | null
  failure: RequestFailed | null
  /** Names the address. Throws RequestFailed. */
  claim(body: ClaimRefund): Promise<void>
}

const pauseMs = ({ status }: PayerRefundBody) =>
  status === 'confirmed' || status === 'cancelled' || status === 'expired' ? null : REFRESH_MS

/** A refund as its payer may see it. */
export function usePayerRefund(token: string): PayerRefund {
  const path = `/api/v1/payer/refunds/${encodeURIComponent(token)}`
  const { body: refund, failure, setBody } = useAskedAgain<PayerRefundBody>(path, pauseMs)
  const claim = useCallback(
    async (body: ClaimRefund) => {
      const headers = { 'content-type': 'application/json' }
      setBody((await ask<PayerRefundBody>(path, { method: 'POST', headers, body: JSON.stringify(body) })).body)
    },
    [path, setBody],
  )
  return { refund, failure, claim }
}
