import { until, uuidv7 } from '@ponte/service-kit'
import { merchantId, startSubscriptions } from './setup'

// One merchant's midnight is not everybody's.

const PLANS = 150

it(`a plan of another merchant is charged with the first of ${PLANS} that were due before it`, async () => {
  const system = await startSubscriptions()
  try {
    const start_at = '2026-02-01T00:00:00.000Z'
    const plan = { interval: 'month', start_at, upcoming_notice: 0 }
    const [model, neighbour] = [await system.create(plan), await system.create(plan)]
    await system.stopReplicas()
    const other = uuidv7()
    await system.sql.query('INSERT INTO merchants SELECT $1, version, display_name, payout_address FROM merchants WHERE id = $2', [
      other,
      merchantId,
    ])
    await system.sql.query("UPDATE subscriptions SET merchant_id = $1, wake_at = wake_at + interval '1 second' WHERE id = $2", [
      other,
      neighbour.id,
    ])
    const { rows } = await system.sql.query<{ columns: string }>(
      "SELECT string_agg(column_name, ', ') AS columns FROM information_schema.columns WHERE table_name = 'subscriptions' AND column_name NOT IN ('id', 'payer_token')",
    )
    await system.sql.query(
      `INSERT INTO subscriptions (id, payer_token, ${rows[0]?.columns})
       SELECT gen_random_uuid(), gen_random_uuid(), ${rows[0]?.columns} FROM subscriptions, generate_series(2, $1) WHERE id = $2`,
      [PLANS, model.id],
    )
    system.clock.now = new Date('2026-02-01T00:00:02.000Z')
    await system.startReplica()
    await system.idle()
    expect(system.of('subscription.charge_requested')).toHaveLength(PLANS + 1)
    const before = await system.sql.query<{ n: number }>(
      `WITH requests AS (
         SELECT created_at, body::jsonb #>> '{data,subscription_id}' AS id FROM outbox WHERE type = 'subscription.charge_requested')
       SELECT count(*)::int AS n FROM requests WHERE created_at < (SELECT created_at FROM requests WHERE id = $1)`,
      [neighbour.id],
    )
    expect(before.rows[0]?.n).toBeLessThan(16)
  } finally {
    await system.stop()
  }
})

it('a merchant has one request that orders has not answered, and another is served meanwhile', async () => {
  const system = await startSubscriptions()
  try {
    system.state.ordersDown = true
    const plan = { interval: 'month', start_at: '2026-02-01T00:00:00.000Z', upcoming_notice: 0 }
    for (let n = 0; n < 130; n += 10) await Promise.all(Array.from({ length: 10 }, () => system.create(plan)))
    const neighbour = await system.create(plan)
    const other = uuidv7()
    await system.sql.query('INSERT INTO merchants SELECT $1, version, display_name, payout_address FROM merchants WHERE id = $2', [
      other,
      merchantId,
    ])
    await system.sql.query('UPDATE subscriptions SET merchant_id = $1 WHERE id = $2', [other, neighbour.id])
    const asked = () => system.of('subscription.charge_requested').map(({ data }) => data.subscription_id)
    system.clock.now = new Date('2026-02-01T00:00:01.000Z')
    await until(() => asked().includes(neighbour.id) && asked().length > 1, 'the neighbour was not charged')
    expect(asked()).toHaveLength(2)
    await system.ordersReturns()
    system.clock.now = new Date('2026-02-01T00:02:00.000Z')
    await system.idle()
    expect(new Set(asked()).size).toBe(131)
  } finally {
    await system.stop()
  }
})

it('a merchant rests for twice as long as orders took to answer it, and for a second at most', async () => {
  const system = await startSubscriptions()
  try {
    system.state.ordersDown = true
    const plan = { interval: 'month', start_at: '2026-02-01T00:00:00.000Z', upcoming_notice: 0 }
    for (let n = 0; n < 3; n++) await system.create(plan)
    const asked = () => system.of('subscription.charge_requested').length
    system.clock.now = new Date('2026-02-01T00:00:01.000Z')
    const answeredAfter = async (ms: number): Promise<number> => {
      const [before, since] = [asked(), performance.now()]
      await until(() => performance.now() - since >= ms, 'time stands still')
      const answered = performance.now()
      await system.answerWaiting()
      await until(() => asked() > before, 'the next plan was not charged')
      return performance.now() - answered
    }
    await until(() => asked() === 1, 'no plan was charged')
    expect(await answeredAfter(200)).toBeGreaterThanOrEqual(400)
    const rested = await answeredAfter(2_000)
    expect(rested).toBeGreaterThanOrEqual(950)
    expect(rested).toBeLessThan(3_500)
    await system.ordersReturns()
    await system.idle()
    expect(asked()).toBe(3)
  } finally {
    await system.stop()
  }
})
