import type { OrderBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { shortened } from '../../amounts'
import { useNetworkName } from '../api/use-networks'
import { Badge, type Tone } from '../elements/badge'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Facts } from '../elements/facts'
import { useWords } from '../texts/words'
import { TransactionLine } from './transaction-line'
import './order-payments.css'

type Payment = NonNullable<OrderBody['payments']>[number]

const statusTones: Record<Payment['status'], Tone> = { detected: 'wait', confirmed: 'good', orphaned: 'bad' }

const sumOf = (payments: readonly Payment[], status: Payment['status']): bigint =>
  payments.reduce((sum, payment) => (payment.status === status ? sum + parseUsdc(payment.amount) : sum), 0n)

/** Every transaction whole, and the sum: what came, what the platform keeps of it, what is the merchant's. */
export function OrderPayments({ order }: { order: OrderBody }) {
  const { t, usdc } = useWords()
  const payments = order.payments ?? []
  if (payments.length === 0) return null
  const confirmed = sumOf(payments, 'confirmed')
  const coming = sumOf(payments, 'detected')
  const share = parseUsdc(order.received)
  return (
    <Card title={t.payments.title}>
      <Unsettled order={order} confirmed={confirmed} />
      {payments.some(payment => payment.settlement?.status === 'blocked') && <p className="warning">{t.payments.blocked}</p>}
      <ul className="payments">
        {payments.map(payment => (
          <PaymentEntry key={`${payment.tx_hash} ${payment.amount} ${payment.status}`} payment={payment} chainId={order.payment.chain_id} />
        ))}
      </ul>
      <Facts
        rows={[
          [t.payments.gross, usdc(formatUsdc(confirmed))],
          [t.payments.fee, `− ${usdc(formatUsdc(confirmed - share))}`],
          [t.payments.share, usdc(order.received)],
          coming > 0n && [t.payments.coming, usdc(formatUsdc(coming))],
          order.status === 'underpaid' && [t.payments.missing, usdc(formatUsdc(parseUsdc(order.usdc_amount) - confirmed))],
        ]}
      />
    </Card>
  )
}

function PaymentEntry({ payment, chainId }: { payment: Payment; chainId: number }) {
  const { t, usdc, exactMoment } = useWords()
  const { status, settlement, payer_address: payer, chain_id = chainId } = payment
  const network = useNetworkName()(chain_id)
  return (
    <li>
      <p className="payment-line">
        <strong>{usdc(payment.amount)}</strong>
        <span className="badges">
          <Badge tone={statusTones[status]}>{t.payments.statuses[status]}</Badge>
          {status === 'confirmed' && settlement && settlement.status !== 'settled' && (
            <Badge tone={settlement.status === 'blocked' ? 'bad' : 'wait'}>{t.payments.settlements[settlement.status]}</Badge>
          )}
        </span>
      </p>
      <p className="faint">
        {exactMoment(payment.block_time)}
        {network && ` · ${network}`}
      </p>
      <p className="payment-line">
        <span className="faint">{t.payments.from}</span>
        {payer === null ? t.payments.unknownPayer : <CopyValue value={payer} label={t.payments.from} shown={shortened(payer, 10)} />}
      </p>
      <TransactionLine chainId={chain_id} hash={payment.tx_hash} />
    </li>
  )
}

/** Money that does not simply settle, and why. */
function Unsettled({ order, confirmed }: { order: OrderBody; confirmed: bigint }) {
  const { t } = useWords()
  const { exception, status } = order
  const short = confirmed === 0n ? null : status === 'underpaid' ? t.attention.short : status === 'expired' ? t.attention.shortAtEnd : null
  const sentence = exception ? t.payments.exceptions[exception] : short
  return sentence === null ? null : <p className="warning">{sentence}</p>
}
