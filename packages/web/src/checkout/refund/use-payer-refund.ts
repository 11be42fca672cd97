import type { ClaimRefund, PayerRefundBody } from '@ponte/contracts'
import { useCallback, useEffect, useState } from 'react'
import { ask, RequestFailed } from '../../problem'

const REFRESH_MS = 5_000

export interface PayerRefund {
  refund: PayerRefundBody | null
  failure: RequestFailed | null
  /** Names the address. Throws RequestFailed. */
  claim(body: ClaimRefund): Promise<void>
}

const isOver = ({ status }: PayerRefundBody) => status === 'confirmed' || status === 'cancelled' || status === 'expired'

/** A refund as its payer may see it, asked for again while the page is looked at and more may come. */
export function usePayerRefund(token: string): PayerRefund {
  const path = `/api/v1/payer/refunds/${encodeURIComponent(token)}`
  const [refund, setRefund] = useState<PayerRefundBody | null>(null)
  const [failure, setFailure] = useState<RequestFailed | null>(null)
  useEffect(() => {
    const gone = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      clearTimeout(timer)
      const isLast = await ask<PayerRefundBody>(path, { signal: gone.signal }).then(
        ({ body }) => {
          setRefund(body)
          setFailure(null)
          return isOver(body)
        },
        error => {
          if (!(error instanceof RequestFailed)) return true
          setFailure(error)
          return error.status === 404 || error.status === 400
        },
      )
      if (!isLast && !gone.signal.aborted) timer = setTimeout(seen, REFRESH_MS)
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
  const claim = useCallback(
    async (body: ClaimRefund) => {
      const headers = { 'content-type': 'application/json' }
      setRefund((await ask<PayerRefundBody>(path, { method: 'POST', headers, body: JSON.stringify(body) })).body)
    },
    [path],
  )
  return { refund, failure, claim }
}
