import { settle } from '@ponte/orders'
import type { Row } from '../ledger'
import type { Audited } from '.'

const DUE = ['pending', 'underpaid', 'confirming']

/** Every order is what the pure function makes of its facts. */
export async function ordersAgainstFacts({ ledger }: Audited): Promise<string[]> {
  const differences: string[] = []
  const [cursor] = await ledger.query<{ confirmed_time: Date | null }>('orders', 'SELECT confirmed_time FROM chain_cursors')
  const payments = new Map<string, Row[]>()
  for (const row of await ledger.query('orders', 'SELECT * FROM payments')) {
    payments.set(String(row.order_id), [...(payments.get(String(row.order_id)) ?? []), row])
  }
  for (const row of await ledger.query('orders', 'SELECT * FROM orders')) {
    const verdict = settle(toTerms(row), (payments.get(String(row.id)) ?? []).map(toFact), cursor?.confirmed_time ?? null)
    // An expiry that is due but not yet swept is no difference.
    const lagging = verdict.status === 'expired' && DUE.includes(String(row.status))
    if (!lagging && (verdict.status !== row.status || verdict.exception !== row.exception))
      differences.push(`order ${row.id} is ${row.status}/${row.exception}, its facts say ${verdict.status}/${verdict.exception}`)
    if (verdict.receivedUnits !== BigInt(String(row.received_units)))
      differences.push(`order ${row.id} received ${row.received_units}, its facts say ${verdict.receivedUnits}`)
  }
  return differences
}

const toTerms = (row: Row) => ({
  expectedUnits: BigInt(String(row.expected_units)),
  expiresAt: row.expires_at as Date,
  cancelledAt: row.cancelled_at as Date | null,
  paidAt: row.paid_at as Date | null,
  supersededAt: row.superseded_at as Date | null,
  expiredAt: row.expired_at as Date | null,
  toldUnits: BigInt(String(row.told_units)),
})

const toFact = (row: Row) => ({
  id: String(row.id),
  revision: Number(row.revision),
  status: row.status as 'detected' | 'confirmed' | 'orphaned',
  shareUnits: BigInt(String(row.share_units)),
  payerAddress: String(row.payer_address),
  txHash: String(row.tx_hash),
  blockNumber: BigInt(String(row.block_number)),
  blockTime: row.block_time as Date,
  replaces: (row.replaces ?? []) as string[],
})
