import type { PayerSubscriptionBody } from '@ponte/contracts'
import { type ReactNode, useEffect, useState } from 'react'
import { dayOf } from '../../amounts'
import { Absent } from '../elements/absent'
import { Aside, NoticeOf, type Tone } from '../elements/notice'
import { PageFrame } from '../elements/page-frame'
import { useWords } from '../texts/words'
import { en } from './texts-en'
import { pt, type Texts } from './texts-pt'
import { isPreparing, type NotOpened, type PayerSubscription, usePayerSubscription } from './use-payer-subscription'
import '../summary.css'
import '../elements/notice.css'
import './subscription-page.css'

const texts = { pt, en }

function useTexts() {
  const words = useWords()
  const { language } = words
  return { ...words, own: texts[language], day: (iso: string, timeZone?: string) => dayOf(iso, language, timeZone) }
}

/** A payer's subscription under a link that stays: what is due, the way to pay it, what was paid, and what comes next. */
export function SubscriptionPage({ token }: { token: string }) {
  const { own } = useTexts()
  const found = usePayerSubscription(token)
  const merchant = found.subscription?.merchant_name
  useEffect(() => {
    if (merchant) document.title = own.pageTitle(merchant)
  }, [merchant, own])
  return (
    <PageFrame>
      {found.subscription ? (
        <main className="sheet" data-status={found.subscription.status}>
          <Plan subscription={found.subscription} />
          <div className="side">
            {found.failure && (
              <div role="status">
                <Aside state="reconnecting" />
              </div>
            )}
            <div aria-live="polite">
              <Due subscription={found.subscription} openOrder={found.openOrder} />
            </div>
            <History subscription={found.subscription} />
          </div>
        </main>
      ) : (
        <main className="sheet alone">
          <Absent failure={found.failure} loading={own.loading} states={own.states} />
        </main>
      )}
    </PageFrame>
  )
}

function State({ tone, state, children }: { tone: Tone; state: keyof Texts['states']; children?: ReactNode }) {
  const { own } = useTexts()
  return (
    <NoticeOf tone={tone} text={own.states[state]}>
      {children}
    </NoticeOf>
  )
}

const isOver = ({ status }: PayerSubscriptionBody) => status === 'cancelled' || status === 'expired'

function Plan({ subscription }: { subscription: PayerSubscriptionBody }) {
  const { own, brl, day } = useTexts()
  const { interval, interval_count, next_charge_at, ends_at, timezone } = subscription
  return (
    <section className="summary" aria-label={own.subscription}>
      <p className="kicker">{own.subscription}</p>
      <h1>{subscription.merchant_name}</h1>
      {subscription.description && <p className="description">{subscription.description}</p>}
      <p className="amount">{brl(subscription.brl_amount)}</p>
      <p className="amount-usdc">{interval ? own.rhythm(interval, interval_count ?? 1) : own.atWill}</p>
      <dl className="facts">
        {!isOver(subscription) && (
          <div>
            <dt>{own.next}</dt>
            <dd>{next_charge_at ? day(next_charge_at, timezone) : own.noNext}</dd>
          </div>
        )}
        {ends_at && (
          <div>
            <dt>{isOver(subscription) ? own.ended : own.ends}</dt>
            <dd>{day(ends_at, timezone)}</dd>
          </div>
        )}
      </dl>
      <p className="faint">{own.keep}</p>
    </section>
  )
}

function Due({ subscription, openOrder }: { subscription: PayerSubscriptionBody } & Pick<PayerSubscription, 'openOrder'>) {
  const { own, brl } = useTexts()
  const [progress, setProgress] = useState<'idle' | 'opening' | NotOpened>('idle')
  const { due } = subscription
  if (isOver(subscription) && !due) return <State tone="good" state="over" />
  if (!due) return subscription.paused ? <State tone="wait" state="paused" /> : <State tone="good" state="nothing" />
  if (isPreparing(subscription)) return <State tone="wait" state="preparing" />
  if (due.checkout_url !== null) {
    return (
      <State tone="warn" state="due">
        <p className="missing">{brl(due.brl_amount)}</p>
        <a className="primary pay-now" href={new URL(due.checkout_url).pathname}>
          {own.payNow}
        </a>
      </State>
    )
  }
  const pay = async () => {
    setProgress('opening')
    const next = await openOrder()
    if (typeof next === 'string') return setProgress(next)
    setProgress('idle')
    if (next.due?.checkout_url) window.location.assign(new URL(next.due.checkout_url).pathname)
  }
  return (
    <>
      {(progress === 'refused' || progress === 'unanswered') && (
        <div role="alert">
          <State tone={progress === 'refused' ? 'bad' : 'warn'} state={progress} />
        </div>
      )}
      <State tone="warn" state="again">
        <p className="missing">{brl(due.brl_amount)}</p>
        <button type="button" className="primary pay-now" disabled={progress === 'opening'} onClick={pay}>
          {progress === 'opening' ? own.opening : own.payNow}
        </button>
      </State>
    </>
  )
}

function History({ subscription: { charges, timezone } }: { subscription: PayerSubscriptionBody }) {
  const { own, brl, day } = useTexts()
  return (
    <section className="history">
      <h3>{own.history}</h3>
      {charges.length === 0 && <p className="faint">{own.noHistory}</p>}
      <ul>
        {charges.map(charge => (
          <li key={`${charge.issued_at} ${charge.receipt_url}`}>
            <span>
              <strong>{brl(charge.brl_amount)}</strong>{' '}
              <span className={`charge-status ${charge.status}`}>{own.statuses[charge.status]}</span>
              <span className="faint charge-day">
                {charge.paid_at ? own.paid(day(charge.paid_at, timezone)) : charge.issued_at && own.issued(day(charge.issued_at, timezone))}
              </span>
            </span>
            {charge.receipt_url && (
              <a className="quiet no-print" href={new URL(charge.receipt_url).pathname}>
                {charge.status === 'paid' ? own.receipt : own.open}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
