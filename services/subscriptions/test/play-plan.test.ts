import { Temporal } from '@js-temporal/polyfill'
import { type System, startSubscriptions } from './setup'

/** Length of the long plays; five years are 1826 days and 60 months. Without a database they are played in full beside the source. */
const DAILY_DAYS = Number(process.env.PONTE_TEST_PLAN_DAYS ?? 30)
const MONTHLY_MONTHS = Number(process.env.PONTE_TEST_PLAN_MONTHS ?? 24)

let system: System
beforeEach(async () => {
  system = await startSubscriptions({ replicas: 3 })
})
afterEach(() => system.stop())

const requested = (id: string) => system.of('subscription.charge_requested').filter(({ data }) => data.subscription_id === id)
const charged = (id: string) => system.of('subscription.charged').filter(({ data }) => data.subscription_id === id)
const expired = (id: string) => system.of('subscription.expired').filter(({ data }) => data.subscription.id === id)
const openOrder = async (id: string) => (await system.get(id)).open_order_id ?? ''

/** Moves the clock to each next charge and pays it, until nothing is due before `end`. */
async function play(id: string, end: string) {
  for (;;) {
    const { next_charge_at, open_order_id } = await system.get(id)
    if (open_order_id) await system.pay(open_order_id)
    if (!next_charge_at || next_charge_at >= end) return
    await system.moveTo(next_charge_at)
  }
}

describe('a plan that the scheduler plays', () => {
  it('charges three times and then expires, once, after the last charge', async () => {
    const { id } = await system.create({ interval: 'month', max_periods: 3, external_ref: 'P-3' })
    await system.idle()
    await play(id, '2027-01-01')
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'expired', charges_done: 3, next_charge_at: null, open_order_id: null })
    expect(charged(id).map(({ data }) => data.charges_done)).toEqual([1, 2, 3])
    expect(expired(id).map(({ data }) => data.subscription)).toEqual([{ id, external_ref: 'P-3' }])
    const { rows } = await system.sql.query(
      "SELECT type FROM outbox WHERE type IN ('subscription.charged', 'subscription.expired') ORDER BY id",
    )
    expect(rows.map(({ type }) => type).slice(-2)).toEqual(['subscription.charged', 'subscription.expired'])
    expect(requested(id).map(({ occurred_at }) => occurred_at.slice(0, 10))).toEqual(['2026-01-31', '2026-02-28', '2026-03-31'])
  })

  it.each([
    ['day', DAILY_DAYS],
    ['month', MONTHLY_MONTHS],
  ] as const)(
    'by the %s, with three schedulers, has the calendar`s number of charges after %i',
    async (interval, count) => {
      const { id } = await system.create({ interval })
      const first = Temporal.ZonedDateTime.from('2026-01-31T09:00:00[America/Sao_Paulo]')
      const days = Array.from({ length: count }, (_, n) => first.add({ [`${interval}s`]: n }))
      const end = first.add({ [`${interval}s`]: count })
      await system.idle()
      await play(id, end.toInstant().toString({ smallestUnit: 'millisecond' }))
      await system.idle()
      expect(requested(id)).toHaveLength(count)
      expect(charged(id)).toHaveLength(count)
      expect(requested(id).map(({ occurred_at }) => occurred_at)).toEqual(
        days.map(day => day.toInstant().toString({ smallestUnit: 'millisecond' })),
      )
      expect(await system.get(id)).toMatchObject({ status: 'active', charges_done: count })
    },
    240_000,
  )

  it('issues exactly the current period after three months without a scheduler, and records the missed ones', async () => {
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    await system.pay(await openOrder(id))
    await system.idle()
    await system.stopReplicas()
    system.clock.now = new Date('2026-05-10T00:00:00.000Z')
    await Promise.all([system.startReplica(), system.startReplica(), system.startReplica()])
    await system.idle()
    expect(requested(id)).toHaveLength(2)
    expect((await system.get(id)).charges?.map(({ period_index, status }) => [period_index, status])).toEqual([
      [3, 'open'],
      [2, 'skipped'],
      [1, 'skipped'],
      [0, 'paid'],
    ])
  })

  it('is past due when its order expires unpaid, and issues it again after one, three and seven days', async () => {
    const { id } = await system.create({ interval: 'month', order_expires_in: 3_600 })
    await system.idle()
    const orders = [await openOrder(id)]
    for (const [expiry, again] of [
      ['2026-01-31T13:00:00.000Z', '2026-02-01T12:00:00.000Z'],
      ['2026-02-01T13:00:00.000Z', '2026-02-03T12:00:00.000Z'],
      ['2026-02-03T13:00:00.000Z', '2026-02-07T12:00:00.000Z'],
    ] as const) {
      system.clock.now = new Date(expiry)
      await system.close(orders.at(-1) ?? '', 'expired')
      await system.idle()
      expect(await system.get(id)).toMatchObject({ status: 'past_due', open_order_id: null, next_charge_at: again })
      await system.moveTo(again)
      orders.push(await openOrder(id))
    }
    expect(new Set(orders).size).toBe(4)
    expect(new Set(requested(id).map(({ data }) => data.memo)).size).toBe(4)
    await system.pay(orders[3] ?? '')
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'active', charges_done: 1, next_charge_at: '2026-02-28T12:00:00.000Z' })
    expect((await system.get(id)).charges).toMatchObject([
      {
        period_index: 0,
        status: 'paid',
        orders: [{ status: 'expired' }, { status: 'expired' }, { status: 'expired' }, { status: 'paid' }],
      },
    ])
  })

  it('expires once at expires_at, and waits while an order is being paid', async () => {
    const { id } = await system.create({ interval: 'week', expires_at: '2026-02-10T00:00:00.000Z', order_expires_in: 7 * 86_400 })
    await play(id, '2026-02-05')
    await system.moveTo('2026-02-07T12:00:00.000Z')
    const last = await openOrder(id)
    expect(requested(id).at(-1)?.data.expires_in).toBe(60 * 3_600)
    await system.moveTo('2026-02-10T00:00:05.000Z')
    expect(await system.get(id)).toMatchObject({ status: 'active', open_order_id: last, next_charge_at: null })
    expect(expired(id)).toEqual([])
    await system.pay(last)
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'expired', charges_done: 2 })
    expect(expired(id)).toHaveLength(1)
  })

  it('with no order out expires at the moment itself', async () => {
    const { id } = await system.create({ expires_at: '2026-02-10T00:00:00.000Z' })
    await system.moveTo('2026-02-09T23:59:59.999Z')
    expect((await system.get(id)).status).toBe('active')
    await system.moveTo('2026-02-10T00:00:00.000Z')
    expect(await system.get(id)).toMatchObject({ status: 'expired', expired_at: '2026-02-10T00:00:00.000Z' })
    expect(expired(id)).toHaveLength(1)
  })

  it('issues one order each for sixty plans that fall due at once, with charges from the merchant in between', async () => {
    const plans = await Promise.all(
      Array.from({ length: 60 }, () => system.create({ interval: 'day', start_at: '2026-02-01T12:00:00.000Z' })),
    )
    system.clock.now = new Date('2026-02-01T12:00:00.000Z')
    await Promise.all(plans.slice(0, 30).map(({ id }, n) => system.call('post', `/${id}/charge`, {}, {}, n % 3)))
    await system.idle()
    const { rows } = await system.sql.query(
      "SELECT count(*)::int AS orders, count(DISTINCT subscription_id)::int AS plans FROM attempts WHERE status = 'open'",
    )
    expect(rows).toEqual([{ orders: 60, plans: 60 }])
    expect(system.of('subscription.charge_requested')).toHaveLength(60)
  })
})
