import { useEffect, useState } from 'react'
import { shortened } from '../amounts'
import { CopyField } from './copy-field'
import { Notice } from './notice'
import type { SentPayment } from './sent-payment'
import { handIn } from './wallet/authorize'
import { outcomeOf } from './wallet/pay'
import { useWallets } from './wallet/provider'
import { useWords } from './words'

const SLOW_MS = 90_000
const LOOK_MS = 4_000

/** Between sending and being seen: the moment in which people pay twice. */
export function SentPanel({
  orderId,
  sent,
  onFailed,
  onForget,
}: {
  orderId: string
  sent: SentPayment
  onFailed(): void
  onForget(): void
}) {
  const { t } = useWords()
  const wallets = useWallets()
  const [slow, setSlow] = useState(() => Date.now() - sent.at > SLOW_MS)
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
  return (
    <>
      <Notice tone="wait" title={sent.hash ? t.sentTitle : t.signedTitle}>
        <p>{sent.hash ? t.sentText : t.signedText}</p>
      </Notice>
      {sent.hash && <CopyField label={t.transaction} value={sent.hash} shown={shortened(sent.hash, 14)} />}
      {/* A signature may still be submitted; paying in another way meanwhile would be paying twice. */}
      {slow && sent.hash && (
        <div className="aside warn">
          <p>{t.sentSlow}</p>
          <button type="button" className="quiet" onClick={onForget}>
            {t.payAgain}
          </button>
        </div>
      )}
    </>
  )
}
