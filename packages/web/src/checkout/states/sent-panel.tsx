import { useEffect, useState } from 'react'
import { useWallets } from '../../wallet/provider'
import { CopyField } from '../elements/copy-field'
import { Notice } from '../elements/notice'
import type { SentPayment } from '../live/sent-payment'
import { useWords } from '../texts/words'

const SLOW_MS = 90_000
const LOOK_MS = 4_000

interface SentPanelProps {
  orderId: string
  sent: SentPayment
  /** The service has sent the signed payment to the network. */
  isSubmitted: boolean
  onFailed(): void
  /** The wallet has named the transaction of its calls. */
  onSent(sent: SentPayment): void
  onForget(): void
}

/** Between sending and being seen: the moment in which people pay twice. */
export function SentPanel({ orderId, sent, isSubmitted, onFailed, onSent, onForget }: SentPanelProps) {
  const { t } = useWords()
  const wallets = useWallets()
  const [isSlow, setSlow] = useState(() => Date.now() - sent.at > SLOW_MS)
  useEffect(() => {
    const look = async () => {
      setSlow(Date.now() - sent.at > SLOW_MS)
      const { sentOutcome } = await import('../parts')
      const outcome = await sentOutcome(orderId, sent, wallets)
      if (outcome === 'failed') onFailed()
      else if (outcome) onSent({ ...sent, hash: outcome })
    }
    const timer = setInterval(() => look().catch(() => undefined), LOOK_MS)
    return () => clearInterval(timer)
  }, [orderId, sent, wallets, onFailed, onSent])
  // A signature may still be submitted; paying in another way meanwhile would be paying twice.
  if (!sent.hash && !sent.calls) {
    const isPaused = isSlow && !isSubmitted
    return <Notice tone={isPaused ? 'warn' : 'wait'} state={isPaused ? 'relayerPaused' : 'signed'} />
  }
  return (
    <>
      <Notice tone={isSlow ? 'warn' : 'wait'} state={isSlow ? 'sentSlow' : 'sent'} />
      {sent.hash && <CopyField label={t.transaction} value={sent.hash} />}
      {isSlow && (
        <button type="button" className="quiet" onClick={onForget}>
          {t.payAgain}
        </button>
      )}
    </>
  )
}
