import { useEffect, useState } from 'react'
import { useWallets } from '../../wallet/provider'
import { CopyField } from '../elements/copy-field'
import { Notice } from '../elements/notice'
import type { SentPayment } from '../live/sent-payment'
import { useWords } from '../texts/words'
import { handIn } from '../wallet/hand-in'
import { outcomeOf } from '../wallet/pay'

const SLOW_MS = 90_000
const LOOK_MS = 4_000

interface SentPanelProps {
  orderId: string
  sent: SentPayment
  onFailed(): void
  onForget(): void
}

/** Between sending and being seen: the moment in which people pay twice. */
export function SentPanel({ orderId, sent, onFailed, onForget }: SentPanelProps) {
  const { t } = useWords()
  const wallets = useWallets()
  const [isSlow, setSlow] = useState(() => Date.now() - sent.at > SLOW_MS)
  useEffect(() => {
    const look = async () => {
      setSlow(Date.now() - sent.at > SLOW_MS)
      const { hash, authorization } = sent
      if (authorization) {
        const { status } = await handIn(orderId, authorization).catch(() => ({ status: 'unknown' }))
        if (status === 'failed') onFailed()
      }
      if (hash === null) return
      const outcomes = await Promise.all(wallets.map(({ provider }) => outcomeOf(provider, hash).catch(() => 'unknown' as const)))
      if (outcomes.includes('failed')) onFailed()
    }
    const timer = setInterval(() => void look(), LOOK_MS)
    return () => clearInterval(timer)
  }, [orderId, sent, wallets, onFailed])
  // A signature may still be submitted; paying in another way meanwhile would be paying twice.
  if (!sent.hash) return <Notice tone={isSlow ? 'warn' : 'wait'} state={isSlow ? 'relayerPaused' : 'signed'} />
  return (
    <>
      <Notice tone={isSlow ? 'warn' : 'wait'} state={isSlow ? 'sentSlow' : 'sent'} />
      <CopyField label={t.transaction} value={sent.hash} />
      {isSlow && (
        <button type="button" className="quiet" onClick={onForget}>
          {t.payAgain}
        </button>
      )}
    </>
  )
}
