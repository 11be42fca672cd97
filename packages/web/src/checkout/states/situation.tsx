import type { CheckoutBody } from '@ponte/contracts'
import { parseUsdc } from '@ponte/contracts/money'
import { useCallback, useEffect, useState } from 'react'
import { askedUsdc } from '../../asked-amount'
import { Aside, Notice } from '../elements'
import { type SentPayment, useSecondsUntil, useSentPayment, useStalled } from '../live'
import { PaymentMethods } from '../pay'
import { useWords } from '../texts'
import { PaymentList, sumOf, sumText } from './payment-list'
import { Receipt } from './receipt'
import { SentPanel } from './sent-panel'

const FROZEN_MS = 180_000

/** After these no payment of this browser is waited for any more. */
const endings: CheckoutBody['status'][] = ['paid', 'expired', 'cancelled']

/** What the payer sees and can do, for each state of the order. */
export function Situation({ checkout, clockOffsetMs }: { checkout: CheckoutBody; clockOffsetMs: number }) {
  const { status, exception } = checkout
  const [sent, setSent] = useSentPayment(checkout.id)
  const arrived = sent !== null && (sent.receivedBefore !== checkout.received || endings.includes(status))
  useEffect(() => {
    if (arrived) setSent(null)
  }, [arrived, setSent])
  if (status === 'paid') return <Receipt checkout={checkout} />
  if (status === 'confirming') return <Confirming checkout={checkout} />
  if (status === 'cancelled') {
    const isLate = exception === 'paid_after_cancel'
    return (
      <>
        <Notice tone={isLate ? 'warn' : 'bad'} state={isLate ? 'paidAfterCancel' : 'cancelled'} />
        <Arrived checkout={checkout} />
      </>
    )
  }
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
  const { usdc } = useWords()
  const [failed, setFailed] = useState(false)
  const seconds = useSecondsUntil(checkout.expires_at, clockOffsetMs)
  const onFailed = useCallback(() => {
    setSent(null)
    setFailed(true)
  }, [setSent])

  const { authorization } = checkout
  const isComing = authorization?.status === 'accepted' || authorization?.status === 'submitted'

  if (sent) return <SentPanel orderId={checkout.id} sent={sent} onFailed={onFailed} onForget={() => setSent(null)} />
  // It may have been signed in another browser: another payer with the link must not pay a second time.
  if (isComing && parseUsdc(checkout.due) === 0n) return <Notice tone="wait" state="signed" />
  if (seconds === 0) return <Notice tone="warn" state="timeUp" />
  return (
    <>
      {authorization?.status === 'failed' ? (
        <SignatureFailed authorization={authorization} />
      ) : (
        failed && <Notice tone="bad" state="failed" />
      )}
      {isComing && <Aside state="signed" />}
      {checkout.exception === 'reorged' && <Aside state="reorged" />}
      {checkout.status === 'underpaid' && (
        <Notice tone="warn" state="underpaid">
          <p className="missing">{usdc(askedUsdc(checkout.due, checkout.usdc_amount))}</p>
        </Notice>
      )}
      <PaymentMethods
        checkout={checkout}
        onSent={next => {
          setFailed(false)
          setSent(next)
        }}
      />
      <Arrived checkout={checkout} />
    </>
  )
}

/** Seen by others, who may still submit it as well. */
const PUBLIC = ['reverted', 'not_mined', 'nonce_used']

function SignatureFailed({ authorization }: { authorization: NonNullable<CheckoutBody['authorization']> }) {
  const { t, exactMoment } = useWords()
  const { reason, valid_before } = authorization
  const isGood = PUBLIC.includes(reason ?? '') && valid_before * 1_000 > Date.now()
  return (
    <Notice tone="bad" state="signatureFailed">
      <p>{t.signatureFailures[reason as keyof typeof t.signatureFailures] ?? t.signatureFailures.not_sent}</p>
      {isGood && <p>{t.signatureStillGood(exactMoment(new Date(valid_before * 1_000).toISOString()))}</p>}
    </Notice>
  )
}

function Confirming({ checkout }: { checkout: CheckoutBody }) {
  const { t } = useWords()
  const { seen, required } = checkout.confirmations ?? { seen: 0, required: 1 }
  const shown = Math.min(seen, required)
  const isFrozen = useStalled(shown, FROZEN_MS)
  return (
    <>
      <Notice tone={isFrozen ? 'warn' : 'wait'} state={isFrozen ? 'networkFrozen' : 'confirming'} />
      <progress className="progress" max={required} value={shown} aria-label={t.confirmations(shown, required)} />
      <p className="faint">{t.confirmations(shown, required)}</p>
      <Arrived checkout={checkout} />
    </>
  )
}

function Expired({ checkout }: { checkout: CheckoutBody }) {
  const isLate = checkout.exception === 'paid_late'
  const hasPart = sumOf(checkout.payments) > 0n
  return (
    <>
      <Notice tone={isLate || hasPart ? 'warn' : 'bad'} state={isLate ? 'paidLate' : hasPart ? 'expiredPart' : 'expired'} />
      <Arrived checkout={checkout} />
    </>
  )
}

/** What has come so far, whole and in sum. */
function Arrived({ checkout }: { checkout: CheckoutBody }) {
  const { t, usdc } = useWords()
  if (checkout.payments.length === 0) return null
  return (
    <section className="arrived">
      <h3>
        {t.receivedSoFar}: {usdc(sumText(checkout.payments))}
      </h3>
      <PaymentList checkout={checkout} />
    </section>
  )
}
