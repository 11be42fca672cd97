import type { OrderBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { shortened } from '../../amounts'
import { networkName } from '../../networks'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { Badge } from '../elements/badge'
import { Card, Columns } from '../elements/card'
import { CopyValue, LinkLine } from '../elements/copy'
import { Facts, idFact, linkFact } from '../elements/facts'
import { Confirmed } from '../forms/confirmed'
import { Back, Heading } from '../frame/heading'
import { NotYet } from '../frame/missing'
import { usePageTitle } from '../frame/page-title'
import { CustomerCard } from '../invoicing/customer-card'
import { DocumentCard } from '../invoicing/document-card'
import { OrderRefunds } from '../refunds/order-refunds'
import { useWords } from '../texts/words'
import { OrderBadge } from './order-badge'
import { OrderPayments } from './order-payments'
import { OrderRecoveries } from './order-recoveries'
import { OrderTimeline, quoteOf } from './order-timeline'
import { titleOf } from './order-title'
import { QuotedTransaction } from './quoted-transaction'
import { useLiveOrder } from './use-live-order'

export function OrderPage({ id }: { id: string }) {
  const { t } = useWords()
  const refetchInterval = useLiveOrder(id)
  const found = useQuery({ queryKey: ['order', id], queryFn: () => api.order(id), refetchInterval })
  const order = found.data
  const mayCancel = useMay('cancelOrder')
  usePageTitle(order ? titleOf(order) : t.orders.title)
  const back = <Back to="/orders" title={t.orders.title} />
  if (!order) return <NotYet of={found} back={back} missing={t.missing.order} />
  return (
    <>
      {back}
      <Heading title={titleOf(order)}>
        {mayCancel && order.status === 'pending' && (
          <Confirmed
            action={t.orders.cancelOrder}
            question={t.orders.cancelSure}
            work={() => api.cancelOrder(order.id)}
            onDone={() => void found.refetch()}
          />
        )}
      </Heading>
      <Sums order={order} />
      <Columns>
        <div>
          <OrderPayments order={order} />
          <OrderRefunds order={order} />
          <OrderRecoveries orderId={order.id} chainId={order.payment.chain_id} />
          <Card title={t.orders.timeline}>
            <OrderTimeline order={order} refetchInterval={refetchInterval} />
          </Card>
          {order.status !== 'paid' && <QuotedTransaction order={order} />}
        </div>
        <div>
          <Card title={t.orders.details}>
            <Details order={order} />
          </Card>
          <CustomerCard
            customer={order.customer}
            by="updateOrder"
            save={customer => api.updateOrder(order.id, { customer })}
            onDone={() => void found.refetch()}
          />
          <DocumentCard
            document={order.fiscal_document}
            save={fiscal_document => api.updateOrder(order.id, { fiscal_document })}
            onDone={() => void found.refetch()}
          />
        </div>
      </Columns>
    </>
  )
}

function Sums({ order }: { order: OrderBody }) {
  const { t, brl, usdc } = useWords()
  const isOpen = order.status === 'pending' || order.status === 'underpaid'
  return (
    <Card className="sums">
      <div>
        <p className="badges">
          <span className="figure">{brl(order.brl_amount)}</span>
          <OrderBadge status={order.status} />
          {order.exception && <Badge tone="warn">{t.orders.exceptions[order.exception]}</Badge>}
        </p>
        <p className="faint">{order.description ?? usdc(order.usdc_amount)}</p>
      </div>
      {isOpen && <LinkLine url={order.payment.checkout_url} label={t.orders.link} action={t.orders.open} />}
      {order.status === 'paid' && <LinkLine url={receiptUrl(order)} label={t.orders.receipt} action={t.orders.openReceipt} />}
    </Card>
  )
}

const receiptUrl = ({ id, payment }: OrderBody) => new URL(`/pay/receipt/${id}`, payment.checkout_url).href

function Details({ order }: { order: OrderBody }) {
  const { t, brl, usdc, exactMoment } = useWords()
  return (
    <Facts
      rows={[
        [t.orders.amount, usdc(order.usdc_amount)],
        [t.orders.fee, `− ${usdc(order.platform_fee)}`],
        [t.orders.expected, usdc(order.expected)],
        [t.orders.quote, quoteOf(order, brl)],
        [t.orders.expires, exactMoment(order.expires_at)],
        order.payment.networks && [
          t.orders.networks,
          order.payment.networks.map(({ chain_id, network }) => networkName(chain_id, network)).join(', '),
        ],
        idFact(order.id),
        [t.orders.memo, <CopyValue key="memo" value={order.memo} label={t.orders.memo} shown={shortened(order.memo, 10)} />],
        order.tx_hash && [
          t.orders.transaction,
          <CopyValue key="tx" value={order.tx_hash} label={t.orders.transaction} shown={shortened(order.tx_hash, 10)} />,
        ],
        order.subscription_id && linkFact(t.orders.subscription, '/subscriptions', order.subscription_id),
        [
          t.deliveries.title,
          <Link key="deliveries" href={`/deliveries?order_id=${order.id}`}>
            {t.endpoints.seeDeliveries}
          </Link>,
        ],
        ...Object.entries(order.metadata),
      ]}
    />
  )
}
