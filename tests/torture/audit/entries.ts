import { civilDay } from '../../days/oracle'
import { added, ledgerDifferences, movedMoney } from '../../simulation/judge-ledger'
import type { Row } from '../ledger'
import { payoutsOf } from '../steps'
import type { Audited } from '.'
import { chainRecord } from './chain-record'
import { movementsOn } from './directs'
import { transfersOf } from './transfers'

const units = (value: unknown) => BigInt(String(value ?? 0))
const dayOf = civilDay('America/Sao_Paulo')

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
  const movements = await movementsOn(audited)
  const transfersOn = await Promise.all(chains.map(async chain => ({ chain, transfers: await transfersOf(chain) })))
  const differences: string[] = []
  for (const merchant of traffic.merchants) {
    const { body } = merchant
    const payouts = payoutsOf(merchant)
    const settled = movements.filter(each => each.merchant === body.id && ['settled', 'direct'].includes(each.kind))
    const sums = await ledger.query('orders', SUMS, [body.id])
    const rows = await ledger.query('orders', 'SELECT sequence, kind, units::text FROM entries WHERE merchant_id = $1', [body.id])
    const [given] = await ledger.query('orders', GIVEN_AWAY, [body.id])
    const sent = transfersOn.flatMap(({ transfers }) => transfers.filter(({ from }) => payouts.includes(from)))
    const { waiting } = added(
      transfersOn.map(({ chain, transfers }) => {
        const own = [...(addresses.get(chain) ?? [])].filter(([, { merchantId }]) => merchantId === body.id)
        return movedMoney({ transfers }, Number.POSITIVE_INFINITY, [], new Set(own.map(([deposit]) => deposit)))
      }),
    )
    const must = {
      ...{ waiting, givenAway: units(given?.units), returned: total(sent.map(({ amount }) => amount)) },
      settled: total(settled.map(each => each.units)),
      settledByMonth: Object.fromEntries(
        [...Map.groupBy(settled, ({ at }) => dayOf(at).slice(0, 7))].map(([month, rows]) => [month, total(rows.map(each => each.units))]),
      ),
    }
    const entries = rows.map(row => ({ sequence: Number(row.sequence), kind: String(row.kind), units: units(row.units) }))
    differences.push(...ledgerDifferences(figuresOf(sums), entries, must).map(each => `merchant ${body.id}: ${each}`))
  }
  return differences
}

const total = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n)

function figuresOf(sums: readonly Row[]) {
  const of = (...kinds: string[]) => sums.filter(({ kind }) => kinds.includes(String(kind)))
  const unitsOf = (rows: readonly Row[]) => total(rows.map(row => units(row.units)))
  const [gross, fee, settled] = [unitsOf(of('payment', 'unmatched', 'direct')), unitsOf(of('fee')), unitsOf(of('settled', 'direct'))]
  const months = new Set(sums.map(({ month }) => String(month)))
  return {
    ...{ gross, fee, settled, waiting: gross - fee - settled, givenAway: unitsOf(of('accepted')), returned: unitsOf(of('returned')) },
    settledByMonth: Object.fromEntries(
      [...months].map(month => [month, unitsOf(of('settled', 'direct').filter(row => row.month === month))]),
    ),
  }
}
