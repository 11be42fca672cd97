import type { PayerRefundBody } from '@ponte/contracts'
import { useEffect } from 'react'
import { dayOf } from '../../amounts'
import { Absent } from '../elements/absent'
import { NoticeOf, type Tone } from '../elements/notice'
import { PageFrame } from '../elements/page-frame'
import { useWords } from '../texts/words'
import { ClaimForm } from './claim-form'
import { en } from './texts-en'
import { pt, type Texts } from './texts-pt'
import { usePayerRefund } from './use-payer-refund'
import '../summary.css'
import '../elements/notice.css'
import '../elements/folded.css'
import './refund-page.css'

const texts = { pt, en }
const tones: Record<PayerRefundBody['status'], Tone> = {
  ...{ open: 'wait', claimed: 'wait', submitted: 'wait', confirmed: 'good', expired: 'bad', cancelled: 'bad' },
}

/** Money that a shop wants to return to a payer, whose address nothing proves: they name it here, once. */
export function RefundPage({ token }: { token: string }) {
  const { language } = useWords()
  const own = texts[language]
  const { refund, failure, ...form } = usePayerRefund(token)
  const merchant = refund?.merchant_name
  useEffect(() => {
    if (merchant) document.title = own.pageTitle(merchant)
  }, [merchant, own])
  return (
    <PageFrame>
      {refund ? (
        <main className="sheet" data-status={refund.status}>
          <Offer refund={refund} own={own} />
          <div className="side">
            <div aria-live="polite">
              <NoticeOf tone={tones[refund.status]} text={own.states[refund.status]} />
            </div>
            {refund.status === 'open' ? <ClaimForm own={own} refund={refund} {...form} /> : <Outcome refund={refund} own={own} />}
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

function Offer({ refund, own }: { refund: PayerRefundBody; own: Texts }) {
  const { usdc, language } = useWords()
  return (
    <section className="summary" aria-label={own.refund}>
      <p className="kicker">{own.refund}</p>
      <h1>{refund.merchant_name}</h1>
      {refund.description && <p className="description">{refund.description}</p>}
      <p className="amount exact">{usdc(refund.amount)}</p>
      <p className="amount-usdc">{own.fee}</p>
      <dl className="facts">
        <div>
          <dt>{own.network}</dt>
          <dd>{refund.network}</dd>
        </div>
        {refund.status === 'open' && (
          <div>
            <dt>{own.until}</dt>
            <dd>{dayOf(refund.expires_at, language)}</dd>
          </div>
        )}
      </dl>
    </section>
  )
}

function Outcome({ refund: { payee_address: payee, tx_hash: hash }, own }: { refund: PayerRefundBody; own: Texts }) {
  const rows = [
    [own.to, payee],
    [own.transaction, hash],
  ] as const
  return (
    <dl className="outcome">
      {rows.map(
        ([label, value]) =>
          value && (
            <div key={label}>
              <dt className="faint">{label}</dt>
              <dd className="mono">{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
