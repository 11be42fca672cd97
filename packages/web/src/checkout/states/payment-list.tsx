import type { CheckoutBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { shortened } from '../../amounts'
import { networkName, transactionUrl } from '../../networks'
import { CopyField } from '../elements/copy-field'
import { useWords } from '../texts/words'

type Payments = CheckoutBody['payments']

/** Payments that reached the order, whole: one that a reorganisation took away is not in the sum. */
export const sumOf = (payments: Payments): bigint =>
  payments.reduce((sum, { status, amount }) => (status === 'orphaned' ? sum : sum + parseUsdc(amount)), 0n)

export const sumText = (payments: Payments): string => formatUsdc(sumOf(payments))

/** Every transaction of the order, with its amount, its time, its sender and its hash. */
export function PaymentList({ checkout }: { checkout: CheckoutBody }) {
  const { t, usdc, exactMoment } = useWords()
  if (checkout.payments.length === 0) return null
  return (
    <ul className="payments">
      {checkout.payments.map(payment => {
        const chainId = payment.chain_id ?? checkout.payment.chain_id
        const url = transactionUrl(chainId, payment.tx_hash)
        return (
          <li key={`${payment.tx_hash} ${payment.amount} ${payment.status}`} className={payment.status}>
            <p className="payment-line">
              <strong>{usdc(payment.amount)}</strong>
              <span className="faint">{t.paymentStatuses[payment.status]}</span>
            </p>
            <p className="faint">
              {exactMoment(payment.block_time)}
              {payment.network && ` · ${networkName(chainId, payment.network)}`}
            </p>
            <p className="faint">{payment.payer_address ? t.sentBy(shortened(payment.payer_address)) : t.sentByUnknown}</p>
            <CopyField label={t.transaction} value={payment.tx_hash} />
            {url && (
              <a className="quiet no-print" href={url} target="_blank" rel="noreferrer">
                {t.seeTransaction}
              </a>
            )}
          </li>
        )
      })}
    </ul>
  )
}
