import type { CheckoutBody } from '@ponte/contracts'
import { useCallback, useEffect, useState } from 'react'
import { isZero } from '../amounts'
import { useSecondsUntil } from './countdown'
import { Notice } from './notice'
import { PaymentMethods } from './payment-methods'
import { Receipt } from './receipt'
import { SentPanel } from './sent-panel'
import { type SentPayment, useSentPayment } from './sent-payment'
import { useWords } from './words'

/** After these nobody waits for a payment of this browser any more. */
const endings: CheckoutBody['status'][] = ['paid', 'expired', 'cancelled']

/** What the payer sees and can do, for each state of the order. */
export function Situation({ checkout, clockOffsetMs }: { checkout: CheckoutBody; clockOffsetMs: number }) {
  const { status } = checkout
  const [sent, setSent] = useSentPayment(checkout.id)
  const arrived = sent !== null && (sent.receivedBefore !== checkout.received || endings.includes(status))
  useEffect(() => {
    if (arrived) setSent(null)
  }, [arrived, setSent])
  if (status === 'paid') return <Receipt checkout={checkout} />
  if (status === 'confirming') return <Confirming checkout={checkout} />
  if (status === 'cancelled') return <Cancelled checkout={checkout} />
  if (status === 'expired') return <Expired checkout={checkout} />
  return <Open checkout={checkout} clockOffsetMs={clockOffsetMs} sent={arrived ? null : sent} setSent={setSent} />
}

interface OpenProps {
  checkout: CheckoutBody
  clockOffsetMs: number
  sent: SentPayment | null
  setSent(sent: SentPayment | null): void
}

function Open({ checkout, clockOffsetMs, sent, setSent }: OpenProps) {
  const { t, usdc } = useWords()
  const [failed, setFailed] = useState(false)
  const seconds = useSecondsUntil(checkout.expires_at, clockOffsetMs)
  const onFailed = useCallback(() => {
    setSent(null)
    setFailed(true)
  }, [setSent])

  if (sent) return <SentPanel orderId={checkout.id} sent={sent} onFailed={onFailed} onForget={() => setSent(null)} />
  if (seconds === 0) {
    return (
      <Notice tone="warn" title={t.timeUpTitle}>
        <p>{t.timeUpText}</p>
      </Notice>
    )
  }
  return (
    <>
      {failed && (
        <Notice tone="bad" title={t.failedTitle}>
          <p>{t.failedText}</p>
        </Notice>
      )}
      {checkout.status === 'underpaid' && (
        <Notice tone="warn" title={t.underpaidTitle}>
          <p>{t.underpaidText(usdc(checkout.due))}</p>
          <p className="faint">{t.receivedNet(usdc(checkout.received))}</p>
        </Notice>
      )}
      {checkout.exception === 'reorged' && <p className="aside warn">{t.reorged}</p>}
      <PaymentMethods
        checkout={checkout}
        onSent={next => {
          setFailed(false)
          setSent(next)
        }}
      />
    </>
  )
}

function Confirming({ checkout }: { checkout: CheckoutBody }) {
  const { t } = useWords()
  const { seen, required } = checkout.confirmations ?? { seen: 0, required: 1 }
  const shown = Math.min(seen, required)
  return (
    <>
      <Notice tone="wait" title={t.confirmingTitle}>
        <p>{t.confirmingText}</p>
      </Notice>
      <progress className="progress" max={required} value={shown} aria-label={t.confirmations(shown, required)} />
      <p className="faint">{t.confirmations(shown, required)}</p>
    </>
  )
}

function Expired({ checkout }: { checkout: CheckoutBody }) {
  const { t } = useWords()
  const late = checkout.exception === 'paid_late'
  return (
    <Notice tone={late ? 'warn' : 'bad'} title={t.expiredTitle}>
      <p>{late ? t.paidLate : isZero(checkout.received) ? t.expiredText : t.expiredPart}</p>
    </Notice>
  )
}

function Cancelled({ checkout }: { checkout: CheckoutBody }) {
  const { t } = useWords()
  const after = checkout.exception === 'paid_after_cancel'
  return (
    <Notice tone={after ? 'warn' : 'bad'} title={t.cancelledTitle}>
      <p>{after ? t.paidAfterCancel : t.cancelledText}</p>
    </Notice>
  )
}
