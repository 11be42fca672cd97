import { useEffect, useState } from 'react'
import { shortened } from '../amounts'
import { CopyField } from './copy-field'
import { Notice } from './notice'
import type { SentPayment } from './sent-payment'
import { outcomeOf } from './wallet/pay'
import { useWallets } from './wallet/provider'
import { useWords } from './words'

const SLOW_MS = 90_000
const LOOK_MS = 4_000

/** Between sending and being seen: the moment in which people pay twice. */
export function SentPanel({ sent, onFailed, onForget }: { sent: SentPayment; onFailed(): void; onForget(): void }) {
  const { t } = useWords()
  const wallets = useWallets()
  const [slow, setSlow] = useState(() => Date.now() - sent.at > SLOW_MS)
  useEffect(() => {
    const look = async () => {
      setSlow(Date.now() - sent.at > SLOW_MS)
      const hash = sent.hash
      if (hash === null) return
      const outcomes = await Promise.all(wallets.map(({ provider }) => outcomeOf(provider, hash).catch(() => 'unknown' as const)))
      if (outcomes.includes('failed')) onFailed()
    }
    const timer = setInterval(() => void look(), LOOK_MS)
    return () => clearInterval(timer)
  }, [sent, wallets, onFailed])
  return (
    <>
      <Notice tone="wait" title={sent.hash ? t.sentTitle : t.signedTitle}>
        <p>{sent.hash ? t.sentText : t.signedText}</p>
      </Notice>
      {sent.hash && <CopyField label={t.transaction} value={sent.hash} shown={shortened(sent.hash, 14)} />}
      {slow && (
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
