import type { CheckoutBody } from '@ponte/contracts'
import { parseUsdc } from '@ponte/contracts/money'
import { useCallback, useEffect, useState } from 'react'
import { askedUsdc } from '../../asked-amount'
import { Aside, Notice, type Tone } from '../elements/notice'
import { useSecondsUntil } from '../live/countdown'
import { type SentPayment, useSentPayment } from '../live/sent-payment'
import { useStalled } from '../live/stalled'
import { WaysToPay } from '../pay/ways-to-pay'
import type { StateName } from '../texts/states-pt'
import { useWords } from '../texts/words'
import { PaymentList, sumOf, sumText } from './payment-list'
import { Receipt } from './receipt'
import { SentPanel } from './sent-panel'
import { WayBack } from './way-back'

const FROZEN_MS = 180_000

/** After these no payment of this browser is waited for any more. */
const endings: CheckoutBody['status'][] = ['paid', 'expired', 'cancelled']

/** The payer's view of each state of the order, with the acts that are possible in it. */
export function Situation({ checkout, clockOffsetMs }: { checkout: CheckoutBody; clockOffsetMs: number }) {
  const { status, exception } = checkout
  const [sent, setSent] = useSentPayment(checkout.id)
  const arrived =
    sent !== null &&
    (endings.includes(status) ||
      // Another payment may arrive first, and this one is not to be sent again for it.
      (sent.hash ? checkout.payments.some(payment => payment.tx_hash === sent.hash) : sent.receivedBefore !== checkout.received))
  useEffect(() => {
    if (arrived) setSent(null)
  }, [arrived, setSent])
  if (status === 'paid') return <Receipt checkout={checkout} />
  if (status === 'confirming') return <Confirming checkout={checkout} />
  if (status === 'cancelled') {
    const isLate = exception === 'paid_after_cancel'
    return <Closed checkout={checkout} tone={isLate ? 'warn' : 'bad'} state={isLate ? 'paidAfterCancel' : 'cancelled'} />
  }
  if (status === 'expired') {
    const state = expiredState(checkout)
    return <Closed checkout={checkout} tone={state === 'expired' ? 'bad' : 'warn'} state={state} />
  }
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
  const [failed, setFailed] = useState<'failed' | 'signatureFailed' | null>(null)
  const [isAskedAgain, setAskedAgain] = useState(false)
  const seconds = useSecondsUntil(checkout.expires_at, clockOffsetMs)
  const isSigned = sent?.authorization != null
  const onFailed = useCallback(() => {
    setSent(null)
    setFailed(isSigned ? 'signatureFailed' : 'failed')
  }, [isSigned, setSent])

  const { authorization } = checkout
  const isComing = authorization?.status === 'accepted' || authorization?.status === 'submitted'
  const isOut = authorization !== null && isSignatureOut(authorization)
  const isReorged = checkout.exception === 'reorged'

  if (sent) {
    const isSubmitted = authorization?.status === 'submitted'
    return <SentPanel orderId={checkout.id} {...{ sent, isSubmitted, onFailed }} onSent={setSent} onForget={() => setSent(null)} />
  }
  // It may have been signed in another browser: another payer with the link must not pay a second time.
  if (isComing && parseUsdc(checkout.due) === 0n) return <Notice tone="wait" state="signed" />
  if (seconds === 0) return <Closed checkout={checkout} tone="warn" state={isReorged ? 'reorged' : 'timeUp'} />
  // A payment that the network undid usually comes back: to pay at once would be to pay twice.
  if (isReorged && !isAskedAgain) {
    return (
      <>
        <Notice tone="warn" state="reorged" />
        <Arrived checkout={checkout} />
        <button type="button" className="quiet flush" onClick={() => setAskedAgain(true)}>
          {t.payAfterUndone}
        </button>
      </>
    )
  }
  return (
    <>
      {authorization?.status === 'failed' ? (
        <SignatureFailed authorization={authorization} isOut={isOut} />
      ) : (
        failed && <Notice tone="bad" state={failed} />
      )}
      {isComing && <Aside state="signed" />}
      {checkout.status === 'underpaid' && (
        <Notice tone="warn" state="underpaid">
          <p className="missing">{usdc(askedUsdc(checkout.due, checkout.usdc_amount))}</p>
        </Notice>
      )}
      <WaysToPay
        checkout={checkout}
        signFirst={isOut}
        onSent={next => {
          setFailed(null)
          setSent(next)
        }}
      />
      <Arrived checkout={checkout} />
      {checkout.status === 'pending' && !isComing && <WayBack url={checkout.cancel_url} look="quiet" label={t.backWithoutPaying} />}
    </>
  )
}

type SignedPayment = NonNullable<CheckoutBody['authorization']>

/** Others have seen it and may still submit it; signing the same amount again is the one way to pay that cannot pay twice. */
const PUBLIC = ['reverted', 'not_mined']
const isSignatureOut = ({ status, reason, valid_before }: SignedPayment): boolean =>
  status === 'failed' && PUBLIC.includes(reason ?? '') && valid_before * 1_000 > Date.now()

function SignatureFailed({ authorization, isOut }: { authorization: SignedPayment; isOut: boolean }) {
  const { t, language, exactMoment } = useWords()
  const { reason, valid_before } = authorization
  const [why, setWhy] = useState<string>()
  useEffect(() => {
    // Without a connection the page states that it failed, if not why.
    import('../parts').then(
      ({ signatureFailures: { [language]: texts } }) => setWhy(texts[reason as keyof typeof texts] ?? texts.not_sent),
      () => undefined,
    )
  }, [language, reason])
  return (
    <Notice tone="bad" state="signatureFailed" reason={why}>
      {isOut && <p className="todo">{t.signatureStillGood(exactMoment(new Date(valid_before * 1_000).toISOString()))}</p>}
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

function expiredState({ exception, payments }: CheckoutBody): StateName {
  if (exception === 'paid_late') return 'paidLate'
  if (exception === 'reorged') return 'reorged'
  return sumOf(payments) > 0n ? 'expiredPart' : 'expired'
}

/** Nothing is to be paid any more, and who has paid is not led back as one who has not. */
function Closed({ checkout, tone, state }: { checkout: CheckoutBody; tone: Tone; state: StateName }) {
  const { t } = useWords()
  const isUnpaid = state === 'expired' || state === 'cancelled'
  return (
    <>
      <Notice tone={tone} state={state} />
      <Arrived checkout={checkout} />
      <WayBack url={checkout.cancel_url} look="quiet" label={isUnpaid ? t.backWithoutPaying : t.backToShop} />
    </>
  )
}

/** Payments so far, each and in sum. */
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
