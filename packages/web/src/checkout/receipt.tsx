import type { CheckoutBody } from '@ponte/contracts'
import { exactMoment, shortened } from '../amounts'
import { transactionUrl } from '../networks'
import { CopyField } from './copy-field'
import { Notice } from './notice'
import { useWords } from './words'

export function Receipt({ checkout }: { checkout: CheckoutBody }) {
  const { t, language, brl, usdc } = useWords()
  const { tx_hash: hash, exception } = checkout
  const url = hash && transactionUrl(checkout.payment.chain_id, hash)
  return (
    <div className="receipt">
      <Notice tone="good" title={t.paidTitle}>
        <p>{t.paidText(checkout.merchant_name)}</p>
      </Notice>
      {exception === 'overpaid' && <p className="aside warn">{t.overpaid}</p>}
      {exception === 'duplicate' && <p className="aside warn">{t.duplicate}</p>}
      {exception === 'reorged' && <p className="aside warn">{t.reorged}</p>}
      <h3>{t.receipt}</h3>
      <dl className="facts ruled">
        <div>
          <dt>{t.paidAmount}</dt>
          <dd>
            {brl(checkout.brl_amount)} <span className="faint">{usdc(checkout.usdc_amount)}</span>
          </dd>
        </div>
        {checkout.paid_at && (
          <div>
            <dt>{t.paidAt}</dt>
            <dd>{exactMoment(checkout.paid_at, language)}</dd>
          </div>
        )}
        <div>
          <dt>{t.network}</dt>
          <dd>{checkout.payment.network}</dd>
        </div>
      </dl>
      {hash && <CopyField label={t.transaction} value={hash} shown={shortened(hash, 14)} />}
      <CopyField label={t.reference} value={checkout.id} shown={shortened(checkout.id, 14)} />
      <div className="actions no-print">
        <button type="button" className="quiet" onClick={() => window.print()}>
          {t.print}
        </button>
        {url && (
          <a className="quiet" href={url} target="_blank" rel="noreferrer">
            {t.seeTransaction}
          </a>
        )}
      </div>
    </div>
  )
}
