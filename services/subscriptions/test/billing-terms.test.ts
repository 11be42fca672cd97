import type { EventType } from '@ponte/contracts'
import { type System, startSubscriptions } from './setup'

// Terms of a plan beside amount and interval, and events that its merchant may choose to hear.

let system: System
beforeEach(async () => {
  system = await startSubscriptions({ replicas: 2 })
})
afterEach(() => system.stop())

const DAY = 86_400_000
const later = (days: number) => system.moveTo(new Date(system.clock.now.getTime() + days * DAY))
const patch = (id: string, body: object) => system.call('patch', `/${id}`, body)
const openOrder = async (id: string) => (await system.get(id)).open_order_id ?? ''
const about = (type: EventType & `subscription.${string}`, id: string) =>
  system.of(type).flatMap(({ data }) => ('subscription' in data && data.subscription.id === id ? [data.subscription] : []))

it('a trial asks for nothing until it is over; the first charge is announced, issued and published with its link, each once', async () => {
  const { id, trial_ends_at } = await system.create({ interval: 'month', trial_periods: 1, external_ref: 'CLUB-1' })
  expect(trial_ends_at).toBe('2026-02-28T12:00:00.000Z')
  await system.idle()
  expect(await system.get(id)).toMatchObject({ current_period_index: 0, open_order_id: null, next_charge_at: trial_ends_at, charges: [] })
  expect((await system.call('post', `/${id}/charge`)).body).toMatchObject({ status: 409, code: 'not_due' })
  await later(26)
  expect(about('subscription.upcoming', id)).toEqual([
    { id, external_ref: 'CLUB-1', period_index: 1, charge_at: trial_ends_at, brl_amount: '49.90' },
  ])
  await later(2)
  const order = await openOrder(id)
  expect(about('subscription.order_issued', id)).toEqual([
    {
      ...{ id, external_ref: 'CLUB-1', period_index: 1, order_id: order, brl_amount: '49.90', usdc_amount: '9.206643' },
      ...{ checkout_url: `http://127.0.0.1:8080/pay/${order}`, expires_at: '2026-03-01T12:00:00.000Z' },
    },
  ])
  expect(about('subscription.upcoming', id)).toHaveLength(1)
})

it('a plan that becomes past due is published once, with what is missing', async () => {
  const { id } = await system.create({ interval: 'month' })
  await system.idle()
  const order = await openOrder(id)
  await system.receive(order, '9.90', 2)
  await system.close(order, 'expired')
  await system.close(order, 'expired')
  await system.idle()
  expect(about('subscription.past_due', id)).toEqual([{ id, external_ref: null, period_index: 0, missing_brl_amount: '9.90' }])
})

it('a plan is paused, lets its periods pass, and goes on when it is resumed; the merchant hears so once', async () => {
  const { id } = await system.create({ interval: 'day' })
  await system.idle()
  await system.pay(await openOrder(id))
  await system.idle()
  expect((await patch(id, { paused: true })).body).toMatchObject({ paused_at: expect.any(String), next_charge_at: null })
  await later(3)
  expect(system.of('subscription.charge_requested')).toHaveLength(1)
  for (let n = 0; n < 2; n += 1) expect((await patch(id, { paused: false })).body).toMatchObject({ paused_at: null })
  await system.idle()
  expect(about('subscription.resumed', id)).toEqual([{ id, external_ref: null }])
  expect((await system.get(id)).charges?.[0]).toMatchObject({ period_index: 3, status: 'open' })
})

it('cancel_at_period_end leaves the period and its order as they are, and cancels at its end', async () => {
  const { id } = await system.create({ interval: 'week' })
  await system.idle()
  const order = await openOrder(id)
  const { body } = await patch(id, { cancel_at_period_end: true })
  expect(body).toMatchObject({ status: 'active', cancel_at_period_end: true, cancel_at: '2026-02-07T12:00:00.000Z', open_order_id: order })
  await system.pay(order)
  await later(7)
  expect(await system.get(id)).toMatchObject({ status: 'cancelled', charges_done: 1, cancelled_at: '2026-02-07T12:00:00.000Z' })
  expect(about('subscription.cancelled', id)).toHaveLength(1)
  expect(system.of('subscription.charge_requested')).toHaveLength(1)
})

it('terms that apply now replace the open order: never two to pay, and money for the first is the period`s payment', async () => {
  const { id } = await system.create({ interval: 'month', metadata: { plan: 'gold', seats: '3' } })
  await system.idle()
  const first = await openOrder(id)
  await patch(id, { brl_amount: '29.90', metadata: { seats: '1', plan: null }, apply: 'now' })
  await system.idle()
  expect(system.of('subscription.order_superseded').map(({ data }) => [data.order_id, data.is_replaced])).toEqual([[first, true]])
  expect(await openOrder(id)).toBe(first)
  await system.close(first, 'cancelled')
  await system.idle()
  const second = await openOrder(id)
  const asked = system.of('subscription.charge_requested').map(({ data }) => [data.order_id, data.brl_amount, data.metadata])
  expect(asked.at(-1)).toEqual([second, '29.90', { seats: '1' }])
  expect(await system.get(id)).toMatchObject({ metadata: { seats: '1' }, charges: [{ brl_amount: '29.90', orders: [{}, {}] }] })

  await patch(id, { brl_amount: '9.90', apply: 'now' })
  await system.pay(second)
  await system.idle()
  expect(await system.get(id)).toMatchObject({ charges_done: 1, open_order_id: null, charges: [{ status: 'paid' }] })
  expect(system.of('subscription.charge_requested')).toHaveLength(2)
})

it('max_periods counts periods where it was chosen so, and the plan ends unpaid', async () => {
  const { id, max_periods_counts } = await system.create({ interval: 'day', max_periods: 2, max_periods_counts: 'periods' })
  expect(max_periods_counts).toBe('periods')
  for (let n = 0; n < 2; n += 1) {
    await system.idle()
    await system.close(await openOrder(id), 'expired')
    await later(1)
  }
  expect(await system.get(id)).toMatchObject({ status: 'expired', charges_done: 0, expired_at: '2026-02-02T12:00:00.000Z' })
  expect(about('subscription.expired', id)).toHaveLength(1)
})

it.each([
  [{ trial_periods: 1 }, 'trial_periods'],
  [{ max_periods_counts: 'periods' }, 'max_periods_counts'],
  [{ interval: 'day', trial_periods: -1 }, 'trial_periods'],
])('refuses a new subscription with %j, naming the field', async (body, path) => {
  const { status, body: answer } = await system.call('post', '', { brl_amount: '1', ...body })
  expect([status, answer.errors?.[0].path]).toEqual([400, path])
})
