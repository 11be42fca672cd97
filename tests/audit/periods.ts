import { type Row, text, unlike } from './rows'

/** A period asks for what its orders ask for. */
export function periodDifferences(charges: readonly Row[], attempts: readonly Row[], orders: readonly Row[]): string[] {
  const asked = new Map(orders.map(row => [String(row.id), row]))
  const whole = new Map(charges.map(row => [`${row.subscription_id} ${row.period_index}`, row.brl_centavos]))
  return attempts.flatMap(({ order_id, subscription_id, period_index, brl_centavos }) => {
    const order = asked.get(String(order_id))
    if (!order) return []
    return unlike(`period ${period_index} of subscription ${subscription_id}, by order ${order_id},`, [
      ['brl_centavos', text(brl_centavos ?? whole.get(`${subscription_id} ${period_index}`)), text(order.brl_centavos)],
      ['subscription_id', subscription_id, order.subscription_id],
    ])
  })
}
