import { until } from '@ponte/service-kit'
import { PAYOUT, type System, startSubscriptions } from './setup'

// A period whose orders or merchant cannot serve it now.

let system: System
const start = async (env: Record<string, string> = {}) => {
  system = await startSubscriptions({ replicas: 2, env: { ORDER_WAIT_MS: '100', ...env } })
}
afterEach(() => system.stop())

const HOUR = 3_600_000
const requested = (id: string) => system.of('subscription.charge_requested').filter(({ data }) => data.subscription_id === id)
const openOrder = async (id: string) => (await system.get(id)).open_order_id ?? ''
const metrics = async () =>
  (await Promise.all(system.replicas.map(async ({ ops }) => (await fetch(`http://127.0.0.1:${ops.port()}/metrics`)).text()))).join('\n')
const handedBack = async () => [...(await metrics()).matchAll(/type="order.paid"[^}]*outcome="unknown"[^}]*\} [1-9]/g)].length
const later = (hours: number) => system.moveTo(new Date(system.clock.now.getTime() + hours * HOUR))

describe('a merchant without a payout address', () => {
  beforeEach(() => start())

  it('has no order asked for; the period waits, is seen to wait, and is issued when an address comes', async () => {
    await system.merchant(2, null)
    const { id } = await system.create({ interval: 'month', start_at: '2026-02-01T00:00:00.000Z' })
    await system.moveTo('2026-02-01T00:00:00.000Z')
    expect(requested(id)).toEqual([])
    expect(await system.get(id)).toMatchObject({ status: 'active', waiting_for: 'payout_address_required', open_order_id: null })
    expect(await metrics()).toMatch(/ponte_subscriptions_awaiting_payout_address\{service="subscriptions"\} 1/)
    await later(48)
    await system.merchant(3, PAYOUT)
    await system.idle()
    expect(requested(id)).toHaveLength(1)
    expect(await system.get(id)).toMatchObject({ waiting_for: null, open_order_id: requested(id)[0]?.data.order_id })
  })

  it('has its orders asked for with the tolerance that it has chosen', async () => {
    await system.merchant(2, PAYOUT, '1.000000')
    const { id } = await system.create({ interval: 'day', start_at: '2026-02-01T00:00:00.000Z' })
    await system.moveTo('2026-02-01T00:00:00.000Z')
    await system.merchant(3, PAYOUT)
    await system.moveTo('2026-02-02T00:00:00.000Z')
    expect(requested(id).map(({ data }) => data.terms.payment_tolerance)).toEqual(['1.000000', null])
  })

  it('is not asked afterwards for periods that are over', async () => {
    await system.merchant(2, null)
    const { id } = await system.create({ interval: 'day' })
    await system.moveTo('2026-02-05T00:00:00.000Z')
    await system.merchant(3, PAYOUT)
    await system.idle()
    expect(requested(id)).toHaveLength(1)
    expect((await system.get(id)).charges?.map(({ period_index, status }) => [period_index, status])).toEqual([
      [4, 'open'],
      [3, 'skipped'],
      [2, 'skipped'],
      [1, 'skipped'],
      [0, 'skipped'],
    ])
  })
})

describe('an answer of orders', () => {
  beforeEach(() => start())

  it('that the order waits for a rate is shown until the order is there', async () => {
    system.state.ordersDown = true
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    await system.answer('order.waiting', await openOrder(id), 'rate_unavailable')
    await system.idle()
    expect(await system.get(id)).toMatchObject({ waiting_for: 'rate_unavailable', charges: [{ orders: [{ reason: 'rate_unavailable' }] }] })
    await system.ordersReturns()
    await system.idle()
    expect(await system.get(id)).toMatchObject({ waiting_for: null, charges: [{ orders: [{ reason: null, status: 'open' }] }] })
  })

  it('that it was refused for good closes the attempt, and nothing is issued again by itself', async () => {
    system.state.ordersDown = true
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    await system.answer('order.refused', await openOrder(id), 'invalid_request')
    await later(24 * 10)
    expect(await system.get(id)).toMatchObject({
      open_order_id: null,
      charges: [{ orders: [{ status: 'cancelled', reason: 'invalid_request' }] }],
    })
    expect(requested(id)).toHaveLength(1)
  })

  it('that it lapsed makes no one past due: no payer saw it, and the period is asked again', async () => {
    system.state.ordersDown = true
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    const first = await openOrder(id)
    await later(30)
    await system.answer('order.refused', first, 'lapsed')
    await system.idle()
    expect(requested(id)).toHaveLength(2)
    expect(await system.get(id)).toMatchObject({
      status: 'active',
      charges: [{ orders: [{ status: 'expired', reason: 'lapsed' }, { status: 'open' }] }],
    })
  })
})

describe('a charge request', () => {
  beforeEach(() => start())

  it('names the instant at which its order ends, never beyond its period: a missed day is not billed afterwards', async () => {
    system.state.ordersDown = true
    const { id } = await system.create({ interval: 'day', order_expires_in: 7 * 86_400, when_unpaid: 'leave' })
    for (let day = 0; day < 3; day += 1) {
      await system.idle()
      await later(24)
    }
    expect(requested(id).map(({ data }) => data.expires_at)).toEqual([
      '2026-02-01T12:00:00.000Z',
      '2026-02-02T12:00:00.000Z',
      '2026-02-03T12:00:00.000Z',
      '2026-02-04T12:00:00.000Z',
    ])
  })
})

describe('the end of a subscription', () => {
  beforeEach(() => start())

  it('names every open order, also those of periods that are over', async () => {
    const { id } = await system.create({ interval: 'day' })
    await system.idle()
    await later(24)
    await later(24)
    const orders = requested(id).map(({ data }) => data.order_id)
    expect(orders).toHaveLength(3)
    await system.call('post', `/${id}/cancel`)
    await system.idle()
    const [ended] = system.of('subscription.cancelled')
    expect(ended?.data.open_order_id).toBe(orders[2])
    expect([...(ended?.data.open_order_ids ?? [])].sort()).toEqual([...orders].sort())
  })

  it('by a lowered max_periods names them too, and orders is notified of it', async () => {
    const { id } = await system.create({ interval: 'day', max_periods: 3 })
    await system.idle()
    await system.pay(await openOrder(id))
    await later(24)
    const order = await openOrder(id)
    await system.call('patch', `/${id}`, { max_periods: 1 })
    await system.idle()
    expect(system.of('subscription.expired').map(({ data }) => data.open_order_ids)).toEqual([[order]])
  })

  it('closes a charge that waited for a rate', async () => {
    system.state.ordersDown = true
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    const order = await openOrder(id)
    await system.call('post', `/${id}/cancel`)
    await system.answer('order.refused', order, 'withdrawn')
    await system.idle()
    expect((await system.get(id)).charges).toMatchObject([{ status: 'skipped', orders: [{ id: order, status: 'cancelled' }] }])
  })
})

describe('money that came for an order that was not paid', () => {
  beforeEach(() => start())

  it('is not asked for again: the next order is for what is missing', async () => {
    const { id } = await system.create({ interval: 'month', brl_amount: '100.00' })
    await system.idle()
    const first = await openOrder(id)
    await system.receive(first, '10.00', 2)
    await system.receive(first, '60.00', 1)
    await system.close(first, 'expired')
    await later(24)
    expect(requested(id).map(({ data }) => data.brl_amount)).toEqual(['100.00', '10.00'])
    expect((await system.get(id)).charges).toMatchObject([{ received_brl_amount: '90.00', orders: [{}, { brl_amount: '10.00' }] }])
    await system.pay(await openOrder(id))
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'active', charges_done: 1 })
  })

  it('and was all of it, a second late, leaves nothing to ask, also at the merchant`s word', async () => {
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    const first = await openOrder(id)
    await system.close(first, 'expired')
    await system.receive(first, '0.00', 1)
    await later(24 * 8)
    expect(requested(id)).toHaveLength(1)
    expect(await system.get(id)).toMatchObject({ status: 'active', charges: [{ status: 'open', received_brl_amount: '49.90' }] })
    expect((await system.call('post', `/${id}/charge`)).body).toMatchObject({ code: 'not_due' })
  })

  it('completes the period late while another order of it is open: that one is called off', async () => {
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    const first = await openOrder(id)
    await system.close(first, 'expired')
    await later(24)
    const second = await openOrder(id)
    await system.receive(first, '0.00', 1)
    await system.idle()
    expect(system.of('subscription.order_superseded').map(({ data }) => data.order_id)).toEqual([second])
  })
})

describe('a plan that no one pays', () => {
  const ignore = async (id: string, days: number) => {
    for (let day = 0; day < days; day += 1) {
      const order = await openOrder(id)
      await later(24)
      if (order) await system.close(order, 'expired')
      await system.idle()
    }
  }

  it('is paused after three unpaid periods by default, and goes on when the merchant asks for it', async () => {
    await start()
    const { id } = await system.create({ interval: 'day' })
    await system.idle()
    await ignore(id, 6)
    expect(requested(id)).toHaveLength(3)
    expect(await system.get(id)).toMatchObject({
      status: 'past_due',
      paused_at: '2026-02-03T12:00:00.000Z',
      pause_reason: 'unpaid',
      open_order_id: null,
      next_charge_at: null,
    })
    expect(await system.call('patch', `/${id}`, { paused: false })).toMatchObject({ body: { paused_at: null } })
    await system.idle()
    expect(requested(id)).toHaveLength(4)
    expect(system.of('subscription.paused')).toHaveLength(1)
  })

  it.each([
    ['cancel', 0, 0],
    ['pause', 1, 1],
  ])('that would %s is kept by who paid in time, however late the report comes', async (whenUnpaid, pauses, resumptions) => {
    await start()
    const { id } = await system.create({ interval: 'day', when_unpaid: whenUnpaid, unpaid_periods_max: 1 })
    await system.idle()
    const order = await openOrder(id)
    await later(48)
    expect(await system.get(id)).toMatchObject({ status: 'active', paused_at: null, next_charge_at: null })
    expect(requested(id)).toHaveLength(1)
    await system.pay(order)
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'active', paused_at: null, charges_done: 1 })
    expect(requested(id)).toHaveLength(2)
    if (whenUnpaid === 'cancel') return
    // Orders reports an end, and then a payment after all.
    const second = await openOrder(id)
    await later(24)
    await system.close(second, 'expired')
    await system.idle()
    expect((await system.get(id)).pause_reason).toBe('unpaid')
    await system.pay(second)
    await system.idle()
    expect(await system.get(id)).toMatchObject({ status: 'active', paused_at: null, pause_reason: null, charges_done: 2 })
    expect([system.of('subscription.paused').length, system.of('subscription.resumed').length]).toEqual([pauses, resumptions])
  })

  it('goes on for ever where that was chosen', async () => {
    await start()
    const { id } = await system.create({ interval: 'day', when_unpaid: 'leave' })
    await system.idle()
    await ignore(id, 6)
    expect(requested(id)).toHaveLength(7)
  })

  it('goes on as the release before had it, whatever the deployment chooses since', async () => {
    await start({ WHEN_UNPAID: 'cancel', UNPAID_PERIODS_MAX: '2' })
    const { id } = await system.create({ interval: 'day' })
    await system.idle()
    // Its replicas name none of these columns.
    await system.sql.query('UPDATE subscriptions SET retry_after_s = NULL, unpaid_periods_max = NULL, when_unpaid = DEFAULT')
    expect(await system.get(id)).toMatchObject({ when_unpaid: 'leave', unpaid_periods_max: 2 })
    await ignore(id, 4)
    expect(requested(id)).toHaveLength(5)
  })

  it('is paused by the merchant too: nothing is issued by itself until it goes on', async () => {
    await start()
    const { id } = await system.create({ interval: 'day' })
    await system.idle()
    const first = await openOrder(id)
    await system.call('patch', `/${id}`, { paused: true })
    await later(24)
    if (first) await system.close(first, 'expired')
    await later(24)
    expect(requested(id)).toHaveLength(1)
    await system.call('patch', `/${id}`, { paused: true, description: 'once more' })
    expect(await system.get(id)).toMatchObject({ paused_at: '2026-01-31T12:00:00.000Z', next_charge_at: null })
    await system.call('patch', `/${id}`, { paused: false })
    await system.idle()
    expect(requested(id)).toHaveLength(2)
  })

  it('is cancelled, or goes on, as plan or deployment choose', async () => {
    await start({ WHEN_UNPAID: 'cancel', UNPAID_PERIODS_MAX: '2', RETRY_AFTER_S: '7200' })
    const ended = await system.create({ interval: 'day' })
    const left = await system.create({ interval: 'day', when_unpaid: 'leave' })
    await system.idle()
    for (let day = 0; day < 4; day += 1) {
      const orders = await Promise.all([openOrder(ended.id), openOrder(left.id)])
      await later(24)
      for (const order of orders) if (order) await system.close(order, 'expired')
      await system.idle()
    }
    expect([(await system.get(ended.id)).status, requested(ended.id).length]).toEqual(['cancelled', 2])
    expect([(await system.get(left.id)).status, requested(left.id).length]).toEqual(['past_due', 5])
    expect(system.of('subscription.cancelled')).toHaveLength(1)
  })

  it('is asked again at its own times', async () => {
    await start()
    const { id } = await system.create({ interval: 'month', order_expires_in: 3_600, retry_after: [7_200] })
    await system.idle()
    await later(1)
    await system.close(await openOrder(id), 'expired')
    await later(1)
    await system.close(await openOrder(id), 'expired')
    await later(24 * 10)
    expect(requested(id).map(({ occurred_at }) => occurred_at.slice(11, 16))).toEqual(['12:00', '14:00'])
    await system.call('patch', `/${id}`, { retry_after: [7_200, 864_000] })
    await later(1)
    expect(requested(id)).toHaveLength(3)
  })
})

it('a plan backdated by a year is one row, not 365, and shows the latest periods', async () => {
  await start()
  const { id } = await system.create({ interval: 'day', start_at: '2025-02-01T12:00:00.000Z' })
  await system.idle()
  const { rows } = await system.sql.query('SELECT period_index, periods, status FROM charges WHERE subscription_id = $1 ORDER BY 1', [id])
  expect(rows).toEqual([
    { period_index: 0, periods: 364, status: 'skipped' },
    { period_index: 364, periods: 1, status: 'open' },
  ])
  const shown = (await system.get(id)).charges ?? []
  expect(shown.map(({ period_index }) => period_index)).toEqual(Array.from({ length: 24 }, (_, n) => 364 - n))
})

it('a plan`s next charge is not one that max_periods holds back', async () => {
  await start()
  const { id } = await system.create({ interval: 'month', max_periods: 1 })
  await system.idle()
  expect((await system.get(id)).next_charge_at).toBeNull()
})

it('an order that is issued again keeps the wording of its period, like its amount', async () => {
  await start()
  const { id } = await system.create({ interval: 'month', description: 'Plan A' })
  await system.idle()
  await system.close(await openOrder(id), 'expired')
  await system.call('patch', `/${id}`, { brl_amount: '99.00', description: 'Plan B' })
  await later(24)
  expect(requested(id).map(({ data }) => [data.brl_amount, data.description])).toEqual([
    ['49.90', 'Plan A'],
    ['49.90', 'Plan A'],
  ])
})

it('PATCH refuses an end before the beginning', async () => {
  await start()
  const { id } = await system.create({ interval: 'month', start_at: '2026-06-01T00:00:00.000Z' })
  const answer = await system.call('patch', `/${id}`, { expires_at: '2026-05-01T00:00:00.000Z' })
  expect([answer.status, answer.body.errors]).toEqual([400, [{ path: 'expires_at', message: 'must lie after start_at' }]])
})

it('an order that was paid before its creation was reported is published as issued, once', async () => {
  await start()
  system.state.ordersDown = true
  const { id } = await system.create({ interval: 'month' })
  await system.idle()
  const order = await openOrder(id)
  await system.pay(order)
  await system.idle()
  await system.ordersReturns()
  await system.idle()
  expect(system.of('subscription.order_issued').map(({ data }) => data.subscription.order_id)).toEqual([order])
})

it('an order whose end orders has not reported an hour after it is counted, until the report comes', async () => {
  await start()
  const { id } = await system.create({ interval: 'day', unpaid_periods_max: 1 })
  await system.idle()
  const order = await openOrder(id)
  const undecided = async () =>
    [...(await metrics()).matchAll(/^ponte_subscription_orders_undecided\{[^}]*\} (.*)$/gm)].map(([, count]) => count)
  await later(24.5)
  expect(await undecided()).toEqual(['0', '0'])
  await later(1)
  expect(await undecided()).toEqual(['1', '1'])
  await system.close(order, 'expired')
  await system.idle()
  expect(await undecided()).toEqual(['0', '0'])
})

it('a plan that a newer release wrote holds up no other that is due', async () => {
  await start()
  const [newer, plain] = [await system.create({ interval: 'month' }), await system.create({ interval: 'month' })]
  await system.idle()
  await system.sql.query('ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_when_unpaid_check')
  await system.sql.query("UPDATE subscriptions SET when_unpaid = 'ask_again' WHERE id = $1", [newer.id])
  system.clock.now = new Date('2026-03-01T12:00:00.000Z')
  await until(() => requested(plain.id).length === 2, 'the other plan was not charged')
  expect(requested(newer.id)).toHaveLength(1)
  // Its payment waits for a version that can read the plan, and is no dead letter.
  const paid = system.pay(requested(newer.id)[0]?.data.order_id ?? '')
  const parked = () => system.bus.deadLetters('subscriptions').count()
  await until(async () => (await handedBack()) > 0 || (await parked()) > 0, 'the payment was not read')
  expect(await parked()).toBe(0)
  await system.sql.query("UPDATE subscriptions SET when_unpaid = 'leave' WHERE id = $1", [newer.id])
  await paid
  expect((await system.get(newer.id)).charges_done).toBe(1)
})

it.each([
  ['opens an order', (_: string) => system.ordersReturns()],
  ['names what it waits for', (order: string) => system.answer('order.waiting', order, 'rate_unavailable')],
])(
  'a report that %s while a scheduler decides lets go of its claim, so that the plan is not left alone for half a minute',
  async (_, report) => {
    await start()
    system.state.ordersDown = true
    const { id } = await system.create({ interval: 'month' })
    await system.idle()
    await system.sql.query("UPDATE subscriptions SET claimed_until = now() + interval '30 seconds'")
    await report(await openOrder(id))
    await system.idle()
    expect((await system.sql.query('SELECT claimed_until FROM subscriptions')).rows).toEqual([{ claimed_until: null }])
  },
)

it('a report that takes a reason away is no state that a decision of before writes back', async () => {
  await start()
  system.state.ordersDown = true
  const { id } = await system.create({ interval: 'month' })
  await system.idle()
  const version = async () => (await system.sql.query('SELECT version FROM subscriptions WHERE id = $1', [id])).rows[0]?.version
  const before = await version()
  await system.ordersReturns()
  await system.idle()
  expect(await version()).toBe(before + 1)
})
