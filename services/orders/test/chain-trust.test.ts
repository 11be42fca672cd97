import { createHash } from 'node:crypto'
import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import request from 'supertest'
import { listener, message } from './listener'
import { asMerchant, startOrders } from './setup'

const TEN_YEARS_MS = 315_360_000_000

let system: Awaited<ReturnType<typeof startOrders>>
let chain: ReturnType<typeof listener>
beforeEach(async () => {
  system = await startOrders({ RECONCILE_EVERY_S: '1', CHAIN_EVENT_PATIENCE_S: '0' })
  chain = listener(system.bus)
})
afterEach(() => system.stop())

const create = async (): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '150.00', expires_in: 600 })).body
const read = async (id: string): Promise<OrderBody> => (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant())).body
const metric = async (name: string) =>
  Number(new RegExp(`^${name}\\{[^}]*\\} (.*)$`, 'm').exec((await request(system.ops).get('/metrics')).text)?.[1])
const handled = async (outcome: string) =>
  Number(
    new RegExp(`^ponte_events_handled_total\\{[^}]*type="chain.blocks"[^}]*outcome="${outcome}"[^}]*\\} (.*)$`, 'm').exec(
      (await request(system.ops).get('/metrics')).text,
    )?.[1],
  )
const after = (order: OrderBody, seconds: number) => new Date(Date.parse(order.expires_at) + seconds * 1_000)

it('fault: a chain time ten years ahead expires nothing, for good or at once, is counted, and the next true one counts', async () => {
  const order = await create()
  await chain.advances(new Date(Date.now() + TEN_YEARS_MS))
  expect(await metric('ponte_chain_time_quarantined_total')).toBe(1)
  await chain.advances(new Date())
  await system.orders.idle()
  const later = await create()
  expect([(await read(order.id)).status, (await read(later.id)).status]).toEqual(['pending', 'pending'])
  await chain.advances(after(order, 1))
  await until(async () => (await read(order.id)).status === 'expired', 'a true time expires nothing')
})

it('fault: chain time that was believed ten years ahead is forgotten', async () => {
  const order = await create()
  await chain.advances(new Date())
  await system.sql.query('UPDATE chain_cursors SET confirmed_time = $1', [new Date(Date.now() + TEN_YEARS_MS)])
  await system.orders.idle()
  await until(async () => {
    const { rows } = await system.sql.query('SELECT confirmed_time < now() AS sane FROM chain_cursors')
    return rows[0]?.sane === true
  }, 'the time stands')
  expect((await read(order.id)).status).toBe('pending')
})

it.each([2n ** 63n, 2n ** 64n, 2n ** 256n - 1n])(
  'fault: a payment of %s units is kept with the reason, and stops expiry for no one',
  async gross => {
    const [order, other] = [await create(), await create()]
    await chain.report('confirmed', chain.payment(order, { gross }))
    await chain.report('confirmed', chain.payment({ ...order, memo: 'ab'.repeat(32) }, { gross }))
    await chain.advances(after(other, 1))
    await until(async () => (await read(other.id)).status === 'expired', 'expiry waits')
    const { body } = await request(system.ops).get('/unmatched')
    expect(body.data).toMatchObject([
      { reason: 'amount_out_of_range', amount: `${gross / 1_000_000n}.${String(gross % 1_000_000n).padStart(6, '0')}` },
      { reason: 'amount_out_of_range' },
    ])
    expect(await metric('ponte_dead_letters_waiting')).toBe(0)
  },
)

it('fault: payments that are in sum more than 64 bits stop nothing either', async () => {
  const [order, other] = [await create(), await create()]
  for (let n = 0; n < 3; n++) await chain.report('confirmed', chain.payment(order, { gross: 2n ** 62n, block_number: 10 + n }))
  await chain.advances(after(other, 1))
  await until(async () => (await read(other.id)).status === 'expired', 'expiry waits')
  expect((await read(order.id)).status).toBe('paid')
  expect((await request(system.ops).get('/unmatched')).body.data).toMatchObject([
    { reason: 'amount_out_of_range' },
    { reason: 'amount_out_of_range' },
  ])
})

it('fault: a flood of payments of nothing is counted and listed, and the payment that the order waits for counts', async () => {
  const order = await create()
  const dust = Array.from({ length: 1_000 }, (_, index) => chain.payment(order, { gross: 1n, block_number: 10 + index }))
  for (let first = 0; first < dust.length; first += 200) await chain.publish({ payments: dust.slice(first, first + 200) })
  const paid = chain.payment(order, { block_number: 2_000 })
  await chain.report('confirmed', paid)
  const { status, tx_hash, payments } = await read(order.id)
  expect([status, tx_hash, payments?.length]).toEqual(['paid', paid.tx_hash, 1_001])
  expect((await request(system.ops).get('/unmatched')).body.data).toEqual([])
})

describe('an event that cannot be handled', () => {
  /** Its block time breaks the schema, so that no try can read it. */
  const broken = (order: OrderBody) => {
    const event = chain.next('confirmed', chain.payment(order))
    return { good: event, bad: { ...event, body: event.body.replace(/"block_time":"[^"]*"/, '"block_time":"yesterday"') } }
  }

  it('holds up the expiry of the order that it may have paid, and of no other, until it is handled', async () => {
    const [order, other] = [await create(), await create()]
    const { good, bad } = broken(order)
    await system.bus.publish(bad)
    expect(await metric('ponte_dead_letters_waiting')).toBe(1)
    await chain.advances(after(other, 1))
    await until(async () => (await read(other.id)).status === 'expired', 'an order that it does not concern waits')
    expect((await read(order.id)).status).toBe('pending')
    await system.bus.publish(good)
    await until(async () => (await read(order.id)).status === 'paid', 'it was not handled')
  })

  it('because only a newer version knows a value of it does the same while it is handed back, and is no dead letter', async () => {
    const [order, other] = [await create(), await create()]
    const event = chain.next('confirmed', chain.payment(order))
    // The memory bus resolves once it is handled, which no version does here.
    void system.bus.publish({ ...event, body: event.body.replace('"kind":"router"', '"kind":"voucher"') })
    await until(async () => (await handled('unknown')) === 1, 'it was not handed back')
    await chain.advances(after(other, 1))
    await until(async () => (await read(other.id)).status === 'expired', 'an order that it does not concern waits')
    expect((await read(order.id)).status).toBe('pending')
    expect(await metric('ponte_dead_letters_waiting')).toBe(0)
  })

  it('is listed, shown and retried on the ops port', async () => {
    const order = await create()
    const { bad } = broken(order)
    await system.bus.publish(bad)
    expect((await request(system.ops).get('/dead')).body).toEqual({ count: 1, data: [{ id: bad.id, type: 'chain.blocks' }] })
    const shown = await request(system.ops).get(`/dead/${bad.id}`)
    expect(shown.body).toMatchObject({ id: bad.id, event: { data: { payments: [{ memo: order.memo, block_time: 'yesterday' }] } } })
    expect((await request(system.ops).get('/dead/unknown')).status).toBe(404)
    const retry = (body: object) => fetch(`${system.ops}/dead/retry`, { method: 'POST', body: JSON.stringify(body) })
    expect((await retry({})).status).toBe(400)
    expect(await (await retry({ ids: ['another'] })).json()).toEqual({ retried: 0 })
    expect(await (await retry({ all: true })).json()).toEqual({ retried: 1 })
    await until(async () => (await metric('ponte_dead_letters_waiting')) === 1, 'it was not tried again')
  })

  it('for one of its orders is taken in for all the others at once', async () => {
    const [order, other] = [await create(), await create()]
    await system.sql.query('ALTER TABLE payments ADD CONSTRAINT planted CHECK (gross_units <> 7)')
    const event = chain.advance(after(other, 1), { payments: [chain.payment(order, { gross: 7n }), chain.payment(other)] })
    await system.bus.publish(event)
    expect([(await read(order.id)).status, (await read(other.id)).status]).toEqual(['pending', 'paid'])
    expect(await metric('ponte_dead_letters_waiting')).toBe(1)
    await system.sql.query('ALTER TABLE payments DROP CONSTRAINT planted')
    await system.bus.publish(event)
    expect([(await read(order.id)).payments?.length, (await read(other.id)).payments?.length]).toEqual([1, 1])
    expect((await system.published(other.id)).map(({ type }) => type)).toEqual(['order.paid'])
  })

  it('is tried again for as long as it is worth when the reason is not known', async () => {
    await system.stop()
    system = await startOrders({ CHAIN_EVENT_PATIENCE_S: '300' })
    chain = listener(system.bus)
    const order = await create()
    await system.sql.query('ALTER TABLE payments ADD CONSTRAINT planted CHECK (gross_units < 0)')
    const published = chain.report('confirmed', chain.payment(order))
    await until(async () => (await handled('retried')) > 4, 'it is not tried again')
    expect(await metric('ponte_dead_letters_waiting')).toBe(0)
    await system.sql.query('ALTER TABLE payments DROP CONSTRAINT planted')
    await published
    expect((await read(order.id)).status).toBe('paid')
  })
})

it('finds by itself what the listener has confirmed and orders never received', async () => {
  const order = await create()
  const paid = chain.payment(order)
  // As the listener has it, with the memo of the chain, also where its merchant counts it for an order.
  const [stray, other] = [chain.payment(order, { memo: 'ab'.repeat(32), log_index: 1 }), await create()]
  await chain.publish({ since: 0, advanced: { from: 0, to: 100, time: new Date().toISOString() }, payments: [paid, stray] })
  const [item] = (await request(system.url).get('/api/v1/attention').set(asMerchant())).body.data
  const word = { order_id: other.id, reason: 'It is theirs' }
  expect((await request(system.url).post(`/api/v1/attention/${item.id}/attach`).set(asMerchant()).send(word)).status).toBe(200)
  const line = (id: string) =>
    `${id} router ${id === chain.idOf(stray) ? stray.memo : order.memo} ${paid.amount.replace('.', '').replace(/^0+/, '')} 10`
  const digest = (...lines: string[]) => createHash('md5').update(lines.sort().join('\n')).digest('hex')
  const audits = (...ids: string[]) =>
    system.bus.publish(
      message('chain.audited', {
        ...{ chain_id: 31337, generation: chain.generation() },
        spans: [
          { from_block: 0, to_block: 9, count: 0, digest: '' },
          { from_block: 10, to_block: 59, count: ids.length, digest: digest(...ids.map(line)) },
        ],
      }),
    )
  await audits(chain.idOf(paid), chain.idOf(stray))
  const before = await metric('ponte_reconcile_last_run_timestamp_seconds')
  await until(async () => (await metric('ponte_reconcile_last_run_timestamp_seconds')) > before, 'nothing was compared')
  expect(await metric('ponte_reconcile_differences')).toBe(0)
  await audits(chain.idOf(paid), chain.idOf(stray), `31337:0x${'cd'.repeat(32)}:0`)
  await until(async () => (await metric('ponte_reconcile_differences')) === 1, 'a payment that did not arrive is not noticed')
  await audits(chain.idOf(paid), chain.idOf(stray))
  await until(async () => (await metric('ponte_reconcile_differences')) === 0, 'it is still noticed')
})
