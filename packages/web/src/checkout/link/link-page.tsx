import type { PayerLinkBody } from '@ponte/contracts'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { dueDay } from '../../due-day'
import { ask, RequestFailed } from '../../problem'
import { reaisFrom } from '../../reais'
import { Absent } from '../elements/absent'
import { NoticeOf, type Tone } from '../elements/notice'
import { PageFrame } from '../elements/page-frame'
import { useAskedAgain } from '../live/use-asked-again'
import { useWords } from '../texts/words'
import { en } from './texts-en'
import { pt, type Texts } from './texts-pt'
import '../summary.css'
import '../elements/notice.css'
import '../subscription/subscription-page.css'
import './link-page.css'

const texts = { pt, en }
const REFRESH_MS = 15_000

function useTexts() {
  const words = useWords()
  return { ...words, own: texts[words.language] }
}

/** A payment link: what it asks for, and the button that opens an order. Nothing is opened by looking at it. */
export function LinkPage({ token }: { token: string }) {
  const { own } = useTexts()
  const path = `/api/v1/payer/links/${encodeURIComponent(token)}`
  const { body: link, failure } = useAskedAgain<PayerLinkBody>(path, () => REFRESH_MS)
  const merchant = link?.merchant_name
  useEffect(() => {
    if (merchant) document.title = own.pageTitle(merchant)
  }, [merchant, own])
  return (
    <PageFrame>
      {link ? (
        <main className="sheet" data-status={link.status}>
          <Asked link={link} />
          <div className="side" aria-live="polite">
            <Act link={link} path={path} />
          </div>
        </main>
      ) : (
        <main className="sheet alone">
          <Absent failure={failure} loading={own.loading} states={own.states} />
        </main>
      )}
    </PageFrame>
  )
}

function Asked({ link }: { link: PayerLinkBody }) {
  const { own, brl, language } = useTexts()
  return (
    <section className="summary" aria-label={own[link.kind]}>
      <p className="kicker">{own[link.kind]}</p>
      <h1>{link.merchant_name}</h1>
      <p className="description">{link.description}</p>
      {link.brl_amount && <p className="amount">{brl(link.brl_amount)}</p>}
      <dl className="facts">
        {link.due_at && (
          <div>
            <dt>{own.due}</dt>
            <dd>{dueDay(link.due_at, language)}</dd>
          </div>
        )}
        {link.external_ref && (
          <div>
            <dt>{own.reference}</dt>
            <dd>{link.external_ref}</dd>
          </div>
        )}
      </dl>
    </section>
  )
}

type State = keyof Texts['states']
const TONES: Partial<Record<State, Tone>> = {
  paid: 'good',
  undecided: 'warn',
  ended: 'bad',
  overdue: 'warn',
  refused: 'bad',
  wrongAmount: 'bad',
}

function Notice({ state, children }: { state: State; children?: ReactNode }) {
  const { own } = useTexts()
  return (
    <NoticeOf tone={TONES[state] ?? 'wait'} text={own.states[state]}>
      {children}
    </NoticeOf>
  )
}

function Act({ link, path }: { link: PayerLinkBody; path: string }) {
  const { own } = useTexts()
  const { order, status } = link
  if (status === 'paid' && order) {
    return (
      <Notice state="paid">
        <a className="primary pay-now" href={`/pay/receipt/${order.id}`}>
          {own.receipt}
        </a>
      </Notice>
    )
  }
  if (status === 'paid' || status === 'ended' || status === 'undecided') return <Notice state={status} />
  if (order) {
    return (
      <Notice state="started">
        <a className="primary pay-now" href={new URL(order.checkout_url).pathname}>
          {own.payNow}
        </a>
      </Notice>
    )
  }
  return <Opening link={link} path={path} />
}

/** Why no order was opened, as a state of this page. */
function stateOf({ code, status }: RequestFailed): State {
  if (status === 429) return 'waiting'
  if (code === 'invalid_request') return 'wrongAmount'
  return (status >= 400 && status < 500) || code === 'rate_unavailable' || code === 'orders_paused' ? 'refused' : 'unanswered'
}

function Opening({ link, path }: { link: PayerLinkBody; path: string }) {
  const { own, brl, language } = useTexts()
  const [progress, setProgress] = useState<'idle' | 'opening' | State>('idle')
  const [typed, setTyped] = useState('')
  const isChosen = link.brl_amount === null
  const open = async (event: FormEvent) => {
    event.preventDefault()
    const amount = isChosen ? reaisFrom(typed, language) : null
    if (isChosen && amount === null) return setProgress('wrongAmount')
    setProgress('opening')
    try {
      const { body } = await ask<PayerLinkBody>(`${path}/order`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(amount === null ? {} : { brl_amount: amount }),
      })
      if (!body.order) return setProgress('idle')
      // Browsers keep a page that was left, and show it again as it was.
      window.addEventListener('pagehide', () => setProgress('idle'), { once: true })
      window.location.assign(new URL(body.order.checkout_url).pathname)
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      setProgress(stateOf(error))
    }
  }
  return (
    <>
      {progress !== 'idle' && progress !== 'opening' && (
        <div role="alert">
          <Notice state={progress} />
        </div>
      )}
      <Notice state={link.status === 'overdue' ? 'overdue' : 'open'}>
        <form onSubmit={open} className="open-link">
          {isChosen && (
            <label>
              {own.chosen}
              <input inputMode="decimal" autoComplete="off" value={typed} onChange={event => setTyped(event.target.value)} required />
              <span className="faint">{own.bounds(brl(link.brl_amount_min ?? '0'), brl(link.brl_amount_max ?? '0'))}</span>
            </label>
          )}
          <button type="submit" className="primary pay-now" disabled={progress === 'opening'}>
            {progress === 'opening' ? own.opening : own.payNow}
          </button>
        </form>
        <p className="faint">{own.quoted}</p>
      </Notice>
    </>
  )
}
