import { stateDifferences } from '../../audit/orders'
import type { Row } from '../ledger'
import type { Audited } from '.'

/** Statuses that an expiry which is due, and not yet done, may still have. */
const DUE = ['pending', 'underpaid', 'confirming']

/** Every order is what the oracle makes of its payments and of the confirmed chain. */
export async function ordersAgainstFacts({ ledger }: Audited): Promise<string[]> {
  const [cursor] = await ledger.query<{ confirmed_time: Date | null }>('orders', 'SELECT confirmed_time FROM chain_cursors')
  const [position] = await ledger.query<{ confirmed_number: string }>('chain-listener', 'SELECT confirmed_number FROM chain_cursor')
  const confirmed = { block: Number(position?.confirmed_number ?? -1), time: (cursor?.confirmed_time?.getTime() ?? 0) / 1_000 }
  const payments = new Map<string, Row[]>()
  for (const row of await ledger.query('orders', 'SELECT * FROM payments'))
    payments.set(String(row.order_id), [...(payments.get(String(row.order_id)) ?? []), row])
  const sweeps = await ledger.query('chain-listener', "SELECT * FROM payments WHERE kind = 'sweep' AND state = 'confirmed'")
  return (await ledger.query('orders', 'SELECT * FROM orders')).flatMap(order => {
    const facts = {
      ...{ order, confirmed, payments: payments.get(String(order.id)) ?? [] },
      sweeps: sweeps.filter(({ memo, merchant }) => memo === order.memo && merchant === String(order.merchant_address).toLowerCase()),
    }
    const isLate = (difference: string) => difference.endsWith('make it expired') && DUE.includes(String(order.status))
    return stateDifferences(facts).filter(difference => !isLate(difference))
  })
}
