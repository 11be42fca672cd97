import type { Ledger } from './ledger'
import { type Outcome, torture } from './torture'

type Amount = [merchant: unknown, sequence: unknown, units: unknown]

async function setAmounts(ledger: Ledger, amounts: readonly Amount[]): Promise<void> {
  await ledger.query('orders', 'ALTER TABLE entries DISABLE TRIGGER USER')
  for (const [merchant, sequence, units] of amounts)
    await ledger.query('orders', 'UPDATE entries SET units = $3 WHERE merchant_id = $1 AND sequence = $2', [merchant, sequence, units])
  await ledger.query('orders', 'ALTER TABLE entries ENABLE TRIGGER USER')
}

/** Bugs as they would show in the books, each with the way to repair it again. */
const planted: Record<string, (ledger: Ledger) => Promise<() => Promise<unknown>>> = {
  'a payment that is lost': async ledger => {
    const [row] = await ledger.query('orders', "SELECT id FROM payments WHERE status = 'confirmed' LIMIT 1")
    await ledger.query('orders', "UPDATE payments SET status = 'orphaned' WHERE id = $1", [row?.id])
    return () => ledger.query('orders', "UPDATE payments SET status = 'confirmed' WHERE id = $1", [row?.id])
  },
  'a sum of the ledger that its entries do not come to': async ledger => {
    const [row] = await ledger.query(
      'orders',
      "UPDATE entry_sums SET units = units + 1 WHERE (merchant_id, quarter, kind) IN (SELECT merchant_id, quarter, kind FROM entry_sums WHERE kind = 'settled' LIMIT 1) RETURNING merchant_id, quarter",
    )
    return () =>
      ledger.query('orders', "UPDATE entry_sums SET units = units - 1 WHERE merchant_id = $1 AND quarter = $2 AND kind = 'settled'", [
        row?.merchant_id,
        row?.quarter,
      ])
  },
  'plain transfers of one merchant, each with the amount of the other': async ledger => {
    // Every sum stays as it is.
    const rows = await ledger.query('orders', "SELECT * FROM entries WHERE kind = 'direct' AND units > 0 ORDER BY merchant_id, sequence")
    const pairs = rows.flatMap(row =>
      rows.filter(other => other.merchant_id === row.merchant_id && other.units !== row.units).map(other => [row, other]),
    )
    const [one, other] = pairs[0] ?? []
    if (!one || !other) throw new Error('No merchant has two direct entries of different amounts.')
    await setAmounts(ledger, [
      [one.merchant_id, one.sequence, other.units],
      [other.merchant_id, other.sequence, one.units],
    ])
    return () =>
      setAmounts(
        ledger,
        [one, other].map(({ merchant_id, sequence, units }): Amount => [merchant_id, sequence, units]),
      )
  },
  'an order.paid from a second cause': async ledger => {
    const [row] = await ledger.query(
      'orders',
      "INSERT INTO outbox (id, type, body, sent_at) SELECT gen_random_uuid(), type, body, now() FROM outbox WHERE type = 'order.paid' LIMIT 1 RETURNING id",
    )
    return () => ledger.query('orders', 'DELETE FROM outbox WHERE id = $1', [row?.id])
  },
  'a charge that is counted and was never paid': async ledger => {
    const [row] = await ledger.query(
      'subscriptions',
      'UPDATE subscriptions SET charges_done = charges_done + 1 WHERE id = (SELECT id FROM subscriptions LIMIT 1) RETURNING id',
    )
    return () => ledger.query('subscriptions', 'UPDATE subscriptions SET charges_done = charges_done - 1 WHERE id = $1', [row?.id])
  },
}

it('nothing is lost and nothing is doubled while everything breaks, and the audit would see it (invariants 1, 2, 3, 5)', async () => {
  const seen: Record<string, number> = {}
  const outcome: Outcome = await torture({
    seed: Number(process.env.PONTE_TORTURE_SEED ?? 7),
    seconds: 14,
    pauseMs: 900,
    async inspect({ ledger, auditAgain }) {
      for (const [bug, plant] of Object.entries(planted)) {
        const repair = await plant(ledger)
        seen[bug] = (await auditAgain()).length
        await repair()
      }
    },
  })
  console.log(outcome)
  expect(outcome.differences).toEqual([])
  expect(outcome.counts.orders).toBeGreaterThan(0)
  expect(Object.keys(planted).filter(bug => !seen[bug])).toEqual([])
}, 300_000)
