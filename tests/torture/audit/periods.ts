import type { Audited } from '.'

/** No period is charged twice or missed without a record, and each charge counted was published once. */
export async function periodsOnce({ ledger }: Audited): Promise<string[]> {
  const subscriptions = await ledger.query(
    'subscriptions',
    `SELECT s.id, s.charges_done, s.status, s.interval, s.period_index, s.trial_periods, (SELECT count(*) FROM charges c WHERE c.subscription_id = s.id AND c.status = 'paid') AS paid,
       (SELECT sum(periods) FROM charges c WHERE c.subscription_id = s.id) AS periods,
       (SELECT count(*) FROM outbox e WHERE e.type = 'subscription.charged' AND e.body::jsonb->'data'->>'subscription_id' = s.id::text) AS published
     FROM subscriptions s`,
  )
  const differences = subscriptions
    .filter(row => Number(row.charges_done) !== Number(row.paid) || Number(row.charges_done) !== Number(row.published))
    .map(row => `subscription ${row.id} counts ${row.charges_done} charges, has ${row.paid} paid periods and published ${row.published}`)
  for (const row of subscriptions)
    if (
      row.interval !== null &&
      row.status === 'active' &&
      Number(row.periods) !== Math.max(0, Number(row.period_index) + 1 - Number(row.trial_periods))
    )
      differences.push(`subscription ${row.id} is in period ${row.period_index} and has charges for ${row.periods}`)

  const attempts = new Map(
    (
      await ledger.query(
        'subscriptions',
        // One that orders refused was never opened, and gives the reason.
        'SELECT a.order_id, a.status, c.status AS charge FROM attempts a JOIN charges c USING (subscription_id, period_index) WHERE a.reason IS NULL',
      )
    ).map(row => [row.order_id, row]),
  )
  const orders = await ledger.query('orders', 'SELECT id, status, paid_at FROM orders WHERE subscription_id IS NOT NULL')
  for (const { id, status, paid_at } of orders) {
    const attempt = attempts.get(id)
    attempts.delete(id)
    if (!attempt) differences.push(`order ${id} is of a subscription that did not ask for it`)
    else if (paid_at !== null && attempt.charge !== 'paid')
      differences.push(`order ${id} was paid (now ${status}) and its period is ${attempt.charge}`)
  }
  for (const [id] of attempts) differences.push(`a subscription asked for order ${id}, and there is none`)
  return differences
}
