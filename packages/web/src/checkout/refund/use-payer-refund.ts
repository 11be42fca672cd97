import type { ClaimRefund, PayerRefundBody } from '@ponte/contracts'
import { useCallback, useState } from 'react'
import { ask, type RequestFailed } from '../../problem'
import { useAskedAgain } from '../live/use-asked-again'

const REFRESH_MS = 5_000

export interface PayerRefund {
  refund: PayerRefundBody | null
  failure: RequestFailed | null
  /** Of the server's clock before this one's; null until something was sent. */
  clockOffsetMs: number | null
  /** Names the address. Throws RequestFailed. */
  claim(body: ClaimRefund): Promise<void>
  /** Has a code mailed. Throws RequestFailed. */
  askCode(language: 'pt' | 'en'): Promise<void>
}

const pauseMs = ({ status }: PayerRefundBody) =>
  status === 'confirmed' || status === 'cancelled' || status === 'expired' ? null : REFRESH_MS

/** A refund as its payer may see it. */
export function usePayerRefund(token: string): PayerRefund {
  const path = `/api/v1/payer/refunds/${encodeURIComponent(token)}`
  const { body: refund, failure, setBody } = useAskedAgain<PayerRefundBody>(path, pauseMs)
  const [clockOffsetMs, setClockOffset] = useState<number | null>(null)
  const send = useCallback(
    async (to: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await ask<PayerRefundBody>(to, { method: 'POST', headers, body: JSON.stringify(body) })
      if (answer.answeredAt !== null) setClockOffset(answer.answeredAt - Date.now())
      setBody(answer.body)
    },
    [setBody],
  )
  const claim = useCallback((body: ClaimRefund) => send(path, body), [path, send])
  const askCode = useCallback((language: 'pt' | 'en') => send(`${path}/code`, { language }), [path, send])
  return { refund, failure, clockOffsetMs, claim, askCode }
}
