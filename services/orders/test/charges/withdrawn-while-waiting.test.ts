import { until, uuidv7 } from '@ponte/service-kit'
import { charge, message } from '../listener'
import { runOrders, system } from '../run-orders'
import { merchantId } from '../setup'

// A charge that cannot be opened, and its withdrawal, at the same moment and with slow commits: one of them finds the other.

const PAIRS = Number(process.env.PONTE_TEST_CHARGE_PAIRS ?? 300)
const AT_ONCE = 100

let ahead = 0
runOrders({ RATE_REFRESH_MS: '3600000' }, { now: () => new Date(Date.now() + ahead) })

it(`${PAIRS} pairs leave no row that waits`, async () => {
  await system.sql.query(`
    CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(random() * 0.03); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON inbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_commit()`)
  ahead = 3_600_000
  const wanted = Array.from({ length: PAIRS }, () => charge())
  for (let first = 0; first < PAIRS; first += AT_ONCE) {
    await Promise.all(
      wanted.slice(first, first + AT_ONCE).flatMap((each, n) => {
        const closing = { merchant_id: merchantId, merchant_version: 1, subscription_id: uuidv7(), order_id: each.order_id }
        const both = [message('subscription.charge_requested', each), message('subscription.order_superseded', closing)]
        return (n % 2 ? both : both.reverse()).map(event => system.bus.publish(event))
      }),
    )
  }
  const { rows } = await system.sql.query("SELECT count(*)::int AS n FROM charges WHERE state = 'waiting'")
  expect(rows).toEqual([{ n: 0 }])
}, 600_000)

it('a hundred and twenty charges that fail for a reason of their own hold up none behind them', async () => {
  const { rows } = await system.sql.query<{ n: number }>(`
    WITH stuck AS (
      INSERT INTO charges (order_id, state, merchant_id, request, reason, ends_at, next_try_at)
      SELECT gen_random_uuid(), 'waiting', gen_random_uuid(), '{}', 'internal_error', now() + interval '1 day', to_timestamp(0)
      FROM generate_series(1, 120) RETURNING 1)
    SELECT count(*)::int AS n FROM stuck`)
  expect(rows).toEqual([{ n: 120 }])
  const good = charge()
  await system.bus.publish(message('subscription.charge_requested', good))
  ahead = 0
  const stateOf = async () => (await system.sql.query('SELECT state FROM charges WHERE order_id = $1', [good.order_id])).rows[0]?.state
  await until(async () => (await stateOf()) === 'opened', 'the good charge was not opened', 30_000)
})
