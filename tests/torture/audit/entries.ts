import { added, ledgerDifferences, movedMoney } from '../../simulation/judge-ledger'
import type { Row } from '../ledger'
import type { Audited } from '.'
import { chainRecord } from './chain-record'
import { transfersOf } from './transfers'

const units = (value: unknown) => BigInt(String(value ?? 0))

const SUMS = `
  SELECT kind, to_char(date_trunc('month', quarter AT TIME ZONE 'America/Sao_Paulo'), 'YYYY-MM') AS month, sum(units)::text AS units
  FROM entry_sums WHERE merchant_id = $1 GROUP BY 1, 2`
const GIVEN_AWAY = `
  SELECT coalesce(sum(greatest(usdc_units - confirmed_units, 0)), 0)::text AS units FROM orders
  WHERE merchant_id = $1 AND status = 'paid' AND (accepted_at IS NOT NULL OR (superseded_at IS NULL AND usdc_units - confirmed_units > 10000))`

/** Each merchant's ledger comes to what the token's transfers moved, row by row and in the sums that are kept beside it. */
export async function entriesAgainstChain(audited: Audited): Promise<string[]> {
  const { chains, ledger, traffic } = audited
  const { addresses } = await chainRecord(audited)
  const transfersOn = await Promise.all(chains.map(transfersOf))
  const differences: string[] = []
  for (const { body } of traffic.merchants) {
    const payout = String(body.payout_address).toLowerCase()
    const deposits = new Set([...addresses].filter(([, { merchant }]) => merchant === payout).map(([address]) => address))
    const sums = await ledger.query('orders', SUMS, [body.id])
    const rows = await ledger.query('orders', 'SELECT sequence, kind, units::text FROM entries WHERE merchant_id = $1', [body.id])
    const [given] = await ledger.query('orders', GIVEN_AWAY, [body.id])
    const returned = transfersOn.flat().reduce((sum, { from, amount }) => (from === payout ? sum + amount : sum), 0n)
    const must = {
      ...added(
        transfersOn.map(transfers =>
          movedMoney({ transfers }, Number.POSITIVE_INFINITY, [{ address: payout, from: 0, to: Number.POSITIVE_INFINITY }], deposits),
        ),
      ),
      givenAway: units(given?.units),
      returned,
    }
    const entries = rows.map(row => ({ sequence: Number(row.sequence), kind: String(row.kind), units: units(row.units) }))
    differences.push(...ledgerDifferences(figuresOf(sums), entries, must).map(each => `merchant ${body.id}: ${each}`))
  }
  return differences
}

function figuresOf(sums: readonly Row[]) {
  const of = (...kinds: string[]) => sums.filter(({ kind }) => kinds.includes(String(kind)))
  const total = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + units(row.units), 0n)
  const [gross, fee, settled] = [total(of('payment', 'unmatched', 'direct')), total(of('fee')), total(of('settled', 'direct'))]
  const months = new Set(sums.map(({ month }) => String(month)))
  return {
    ...{ gross, fee, settled, waiting: gross - fee - settled, givenAway: total(of('accepted')), returned: total(of('returned')) },
    settledByMonth: Object.fromEntries(
      [...months].map(month => [month, total(of('settled', 'direct').filter(row => row.month === month))]),
    ),
  }
}
