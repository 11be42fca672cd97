import { offersOf, orderPayoutOn } from '../../audit/networks'
import { stateDifferences } from '../../audit/orders'
import type { Row } from '../ledger'
import type { Audited } from '.'
import { payoutOn, publishedPayouts } from './payouts'

/** Statuses that an expiry which is due, and not yet done, may still have. */
const DUE = ['pending', 'underpaid', 'confirming']

/** Every order is what the oracle makes of its payments and of the confirmed chains, and pays its merchant where that one was paid by their version. */
export async function ordersAgainstFacts({ ledger, chains, listeners }: Audited): Promise<string[]> {
  const [cursor] = await ledger.query<{ reached: Date | null }>('orders', 'SELECT min(confirmed_time) AS reached FROM chain_cursors')
  const heights = await Promise.all(
    listeners.map(async (listener, index): Promise<[string, number]> => {
      const [position] = await ledger.query(listener, 'SELECT confirmed_number FROM chain_cursor')
      return [String(chains[index]?.chainId), Number(position?.confirmed_number ?? -1)]
    }),
  )
  const [[, block] = ['', -1]] = heights
  const confirmed = { block, others: new Map(heights), time: (cursor?.reached?.getTime() ?? 0) / 1_000 }
  const payments = new Map<string, Row[]>()
  for (const row of await ledger.query('orders', 'SELECT * FROM payments'))
    payments.set(String(row.order_id), [...(payments.get(String(row.order_id)) ?? []), row])
  const swept = "SELECT * FROM payments WHERE kind = 'sweep' AND state = 'confirmed'"
  const sweeps = (await Promise.all(listeners.map(listener => ledger.query(listener, swept)))).flat()
  const published = new Map((await publishedPayouts(ledger)).map(each => [`${each.merchant} ${each.version}`, each]))
  const attached = await ledger.query('orders', 'SELECT order_id, payment_id FROM attachments')
  const placeDifferences = (order: Row) => {
    const at = published.get(`${order.merchant_id} ${order.merchant_version}`)
    return offersOf(order).flatMap(({ chain, isOffered }) => {
      const isAttached = attached.some(({ order_id, payment_id }) => order_id === order.id && String(payment_id).startsWith(`${chain}:`))
      // Where it was not offered when it was made, it is that of its first network.
      const of = [...(isOffered ? [chain] : []), ...(!isOffered || isAttached ? [String(order.chain_id)] : [])].map(Number)
      const [is, must] = [orderPayoutOn(order, chain), of.map(chainId => at && payoutOn(at, chainId))]
      return must.includes(is ?? undefined)
        ? []
        : [`order ${order.id} is paid out on ${chain} to ${is} and must be to ${must.join(' or ')}`]
    })
  }
  return (await ledger.query('orders', 'SELECT * FROM orders')).flatMap(order => {
    const facts = {
      ...{ order, confirmed, payments: payments.get(String(order.id)) ?? [] },
      sweeps: sweeps.filter(({ memo, merchant, chain_id }) => memo === order.memo && merchant === orderPayoutOn(order, chain_id)),
    }
    const isLate = (difference: string) => difference.endsWith('make it expired') && DUE.includes(String(order.status))
    return [...placeDifferences(order), ...stateDifferences(facts).filter(difference => !isLate(difference))]
  })
}
