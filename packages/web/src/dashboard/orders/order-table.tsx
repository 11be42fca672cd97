import type { OrderBody } from '@ponte/contracts'
import { Link } from 'wouter'
import { Badge } from '../elements/badge'
import { useWords } from '../texts/words'
import { OrderBadge } from './order-badge'
import { titleOf } from './order-title'

export function OrderTable({ orders, isByPayment = false }: { orders: readonly OrderBody[]; isByPayment?: boolean }) {
  const { t, brl, asked, moment } = useWords()
  return (
    <table className="list">
      <thead>
        <tr>
          <th>{t.orders.reference}</th>
          <th>{t.status}</th>
          <th className="number">{t.orders.amount}</th>
          <th>{isByPayment ? t.orders.paidAt : t.created}</th>
        </tr>
      </thead>
      <tbody>
        {orders.map(order => (
          <tr key={order.id}>
            <td>
              <Link href={`/orders/${order.id}`} className="row-link">
                {titleOf(order)}
              </Link>
              {order.external_ref && order.description && <span className="faint cut">{order.description}</span>}
            </td>
            <td className="badges">
              <OrderBadge status={order.status} />
              {order.exception && <Badge tone="warn">{t.orders.exceptions[order.exception]}</Badge>}
            </td>
            <td className="number">
              {brl(order.brl_amount)}
              <span className="faint">{asked(order.usdc_amount)}</span>
            </td>
            <td>{moment((isByPayment && order.paid_at) || order.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
