import type { BrandingBody, CheckoutBody } from '@ponte/contracts'
import { soon } from '../amounts'
import { askedUsdc } from '../asked-amount'
import { networkName } from '../networks'
import { MerchantLogo } from './branding/merchant-links'
import { clock, useSecondsUntil } from './live/countdown'
import { useWords } from './texts/words'
import './summary.css'

export interface SummaryProps {
  checkout: CheckoutBody
  clockOffsetMs: number
  branding: BrandingBody | null
}

/** The merchant, the amount, and the time for which the price in USDC is good. */
export function Summary({ checkout, clockOffsetMs, branding }: SummaryProps) {
  const { t, language, brl, usdc } = useWords()
  const open = checkout.status === 'pending' || checkout.status === 'underpaid'
  return (
    <section className="summary" aria-label={t.orderSummary}>
      <MerchantLogo branding={branding} />
      <p className="kicker">{open ? t.payTo : t.invoiceOf}</p>
      <h1>{checkout.merchant_name}</h1>
      {checkout.description && <p className="description">{checkout.description}</p>}
      {checkout.of_subscription && <p className="description">{t.ofSubscription}</p>}
      <p className="amount">{brl(checkout.brl_amount)}</p>
      <p className="amount-usdc">{usdc(askedUsdc(checkout.usdc_amount))}</p>
      <dl className="facts">
        <div>
          <dt>{t.rate}</dt>
          <dd>{t.rateValue(brl(checkout.quote.rate.replace(/0{1,4}$/, '')))}</dd>
        </div>
        {!checkout.payment.networks && (
          <div>
            <dt>{t.network}</dt>
            <dd>{networkName(checkout.payment.chain_id, checkout.payment.network)}</dd>
          </div>
        )}
        {open && (
          <div>
            <dt>{t.validFor}</dt>
            <dd>
              <Countdown expiresAt={checkout.expires_at} clockOffsetMs={clockOffsetMs} />
              <span className="faint"> {t.validUntil(soon(checkout.expires_at, language))}</span>
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}

function Countdown({ expiresAt, clockOffsetMs }: { expiresAt: string; clockOffsetMs: number }) {
  const seconds = useSecondsUntil(expiresAt, clockOffsetMs)
  return (
    <span role="timer" className={seconds < 120 ? 'countdown urgent' : 'countdown'}>
      {clock(seconds)}
    </span>
  )
}
