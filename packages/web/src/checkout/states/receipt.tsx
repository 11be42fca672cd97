import type { CheckoutBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { networkName } from '../../networks'
import { CopyField } from '../elements/copy-field'
import { Notice } from '../elements/notice'
import type { StateName } from '../texts/states-pt'
import { useWords } from '../texts/words'
import { PaymentList, sumOf } from './payment-list'
import { WayBack } from './way-back'
import './receipt.css'

const states: Partial<Record<NonNullable<CheckoutBody['exception']>, StateName>> = {
  overpaid: 'overpaid',
  duplicate: 'duplicate',
  reorged: 'reorged',
}

/** The asked amount, the sum sent, and every transaction of it. */
export function Receipt({ checkout }: { checkout: CheckoutBody }) {
  const { t, brl, usdc, exactMoment } = useWords()
  const { exception, payments } = checkout
  const state = (exception && states[exception]) ?? 'paid'
  const surplus = sumOf(payments) - parseUsdc(checkout.usdc_amount)
  const rows: [name: string, value: string, below?: string][] = [
    [t.asked, brl(checkout.brl_amount), usdc(checkout.usdc_amount)],
    [t.sum, usdc(formatUsdc(sumOf(payments)))],
  ]
  if (state !== 'paid' && surplus > 0n) rows.push([t.surplus, usdc(formatUsdc(surplus))])
  if (checkout.paid_at) rows.push([t.paidAt, exactMoment(checkout.paid_at)])
  // Each payment names its own where there are several.
  if (!checkout.payment.networks) rows.push([t.network, networkName(checkout.payment.chain_id, checkout.payment.network)])
  return (
    <div className="receipt">
      <Notice tone={state === 'paid' ? 'good' : 'warn'} state={state} />
      <WayBack url={checkout.success_url} look="primary" label={t.backToShop} />
      <h3>{t.receipt}</h3>
      <dl className="facts ruled">
        {rows.map(([name, value, below]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value} {below && <span className="faint">{below}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <PaymentList checkout={checkout} />
      <CopyField label={t.reference} value={checkout.id} />
      <div className="actions no-print">
        <a className="quiet" href={`/pay/receipt/${checkout.id}`}>
          {t.print}
        </a>
      </div>
    </div>
  )
}
