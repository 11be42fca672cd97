import { verdictOf } from '@ponte/orders'
import type { Row } from '../ledger'
import type { Audited } from '.'

const DUE = ['pending', 'underpaid', 'confirming']

/** Every order is what the pure function makes of its facts. */
export async function ordersAgainstFacts({ ledger }: Audited): Promise<string[]> {
  const differences: string[] = []
  const [cursor] = await ledger.query<{ confirmed_time: Date | null; watermark: number }>(
    'orders',
    'SELECT confirmed_time, watermark FROM chain_cursors',
  )
  const chain = { time: cursor?.confirmed_time ?? null, watermark: cursor?.watermark ?? 0 }
  const payments = new Map<string, Row[]>()
  for (const row of await ledger.query('orders', 'SELECT * FROM payments')) {
    payments.set(String(row.order_id), [...(payments.get(String(row.order_id)) ?? []), row])
  }
  const rows = await ledger.query('orders', 'SELECT orders.*, synced_sequence FROM orders LEFT JOIN deposit_states ON order_id = orders.id')
  for (const row of rows) {
    const facts = {
      payments: (payments.get(String(row.id)) ?? []).map(toFact),
      syncedSequence: row.synced_sequence as number | null,
    }
    const verdict = verdictOf(toTerms(row), facts, chain)
    // An expiry that is due but not yet swept is no difference.
    const lagging = verdict.status === 'expired' && DUE.includes(String(row.status))
    if (!lagging && (verdict.status !== row.status || verdict.exception !== row.exception))
      differences.push(`order ${row.id} is ${row.status}/${row.exception}, its facts say ${verdict.status}/${verdict.exception}`)
    if (verdict.confirmedUnits !== BigInt(String(row.confirmed_units)))
      differences.push(`order ${row.id} received ${row.confirmed_units}, its facts say ${verdict.confirmedUnits}`)
  }
  return differences
}

const toTerms = (row: Row) => ({
  usdcUnits: BigInt(String(row.usdc_units)),
  toleranceUnits: BigInt(String(row.tolerance_units)),
  depositAddress: row.deposit_address as string | null,
  expiresAt: row.expires_at as Date,
  cancelledAt: row.cancelled_at as Date | null,
  paidAt: row.paid_at as Date | null,
  supersededAt: row.superseded_at as Date | null,
  expiredAt: row.expired_at as Date | null,
  notifiedUnits: BigInt(String(row.notified_units)),
})

const toFact = (row: Row) => ({
  id: String(row.id),
  revision: Number(row.revision),
  status: row.status as 'detected' | 'confirmed' | 'orphaned',
  kind: row.kind as 'router' | 'transfer',
  grossUnits: BigInt(String(row.gross_units)),
  depositAddress: row.deposit_address as string | null,
  logIndex: Number(row.log_index),
  payerAddress: String(row.payer_address),
  txHash: String(row.tx_hash),
  blockNumber: BigInt(String(row.block_number)),
  blockTime: row.block_time as Date,
})
