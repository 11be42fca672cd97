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

it('fault: a flood of payments of nothing fills no order, and the payment that it waits for counts', async () => {
  const order = await create()
  await Promise.all(Array.from({ length: 130 }, () => chain.report('confirmed', chain.payment(order, { gross: 1n }))))
  const paid = chain.payment(order)
  await chain.report('confirmed', paid)
  const { status, tx_hash, payments } = await read(order.id)
  expect([status, tx_hash, payments?.length]).toEqual(['paid', paid.tx_hash, 101])
  const { body } = await request(system.ops).get('/unmatched')
  expect(body.data).toHaveLength(30)
  expect(body.data[0]).toMatchObject({ reason: 'amount_out_of_range', amount: '0.000001' })
  // Those that wait for the order are written together: one by one they would hold every handler, and payments of others would wait behind them all.
  const { rows } = await system.sql.query<{ version: number }>('SELECT version FROM orders WHERE id = $1', [order.id])
  expect(rows[0]?.version).toBeLessThan(40)
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

  it('is listed, shown and retried on the ops port', async () => {
    const order = await create()
    const { bad } = broken(order)
    await system.bus.publish(bad)
    expect((await request(system.ops).get('/dead')).body).toEqual({ count: 1, data: [{ id: bad.id, type: 'payment.confirmed' }] })
    const shown = await request(system.ops).get(`/dead/${bad.id}`)
    expect(shown.body).toMatchObject({ id: bad.id, event: { data: { memo: order.memo, block_time: 'yesterday' } } })
    expect((await request(system.ops).get('/dead/unknown')).status).toBe(404)
    const retry = (body: object) => fetch(`${system.ops}/dead/retry`, { method: 'POST', body: JSON.stringify(body) })
    expect((await retry({})).status).toBe(400)
    expect(await (await retry({ ids: ['another'] })).json()).toEqual({ retried: 0 })
    expect(await (await retry({ all: true })).json()).toEqual({ retried: 1 })
    await until(async () => (await metric('ponte_dead_letters_waiting')) === 1, 'it was not tried again')
  })

  it('books no payment of another order, whichever of the two reports is newer', async () => {
    const [order, ...others] = [await create(), await create(), await create()]
    const paid = chain.payment(order)
    await chain.report('detected', paid)
    const confirmed = chain.next('confirmed', paid)
    const claims = (other: OrderBody) => chain.payment(other, { payment_id: paid.payment_id, tx_hash: paid.tx_hash })
    const older = message('payment.confirmed', { ...claims(others[0] ?? order), revision: 1, sequence: 3 })
    await system.bus.publish(confirmed)
    await system.bus.publish(older)
    await system.bus.publish(message('payment.confirmed', { ...claims(others[1] ?? order), revision: 9, sequence: 4 }))
    const seen = await Promise.all([order, ...others].map(async ({ id }) => (await read(id)).status))
    expect(seen).toEqual(['paid', 'pending', 'pending'])
    expect(await metric('ponte_dead_letters_waiting')).toBe(2)
  })

  it('whose id a restored listener gave to another payment of the transaction is counted once', async () => {
    const [first, second] = [await create(), await create()]
    const [tx, block] = [`0x${'7e'.repeat(32)}`, `0x${'7f'.repeat(32)}`]
    const at = (order: OrderBody, id: string, logIndex: number) =>
      chain.payment(order, { payment_id: `31337:${tx}:${id}`, tx_hash: tx, block_hash: block, log_index: logIndex })
    await chain.report('detected', at(first, '0', 9))
    await chain.report('detected', at(second, '1', 4))
    await chain.report('confirmed', at(first, '1', 9))
    await chain.report('confirmed', at(second, '0', 4))
    for (const order of [first, second]) {
      const { status, exception, payments } = await read(order.id)
      expect([status, exception, payments?.length]).toEqual(['paid', null, 1])
    }
    expect(await metric('ponte_dead_letters_waiting')).toBe(0)
  })

  it('that was never reported before counts under an id that another order has, as long as it stands', async () => {
    const [first, second] = [await create(), await create()]
    const [tx, block] = [`0x${'6e'.repeat(32)}`, `0x${'6f'.repeat(32)}`]
    let sequence = 10
    const reports = (type: 'confirmed' | 'orphaned', order: OrderBody, number: string, logIndex: number, blockNumber = 10) => {
      const place = { payment_id: `31337:${tx}:${number}`, tx_hash: tx, block_hash: block, log_index: logIndex, block_number: blockNumber }
      sequence += 1
      return system.bus.publish(message(`payment.${type}`, { ...chain.payment(order, place), sequence, revision: sequence }))
    }
    const states = async () =>
      Promise.all([first, second].map(async ({ id }) => ((await read(id)).payments ?? []).map(({ status }) => status)))
    await reports('confirmed', first, '0', 9)
    // Both addresses are known to the listener now, and the first number is that of the lower log.
    await reports('confirmed', second, '0', 4)
    await reports('confirmed', first, '1', 9)
    expect([await states(), await metric('ponte_dead_letters_waiting')]).toEqual([[['confirmed'], ['confirmed']], 0])
    await reports('orphaned', second, '0', 4)
    expect(await states()).toEqual([['confirmed'], ['orphaned']])
    await reports('confirmed', second, '0', 3, 11)
    expect(await states()).toEqual([['confirmed'], ['confirmed']])
    expect(await metric('ponte_dead_letters_waiting')).toBe(0)
  })

  it('whose id a restored listener gave to another payment of the same order is counted once, too', async () => {
    const order = await create()
    const [tx, block] = [`0x${'8e'.repeat(32)}`, `0x${'8f'.repeat(32)}`]
    const at = (id: string, logIndex: number, gross: bigint) =>
      chain.payment(order, { payment_id: `31337:${tx}:${id}`, tx_hash: tx, block_hash: block, log_index: logIndex, gross })
    const confirmed = (paid: ReturnType<typeof at>, sequence: number) =>
      system.bus.publish(message('payment.confirmed', { ...paid, sequence, revision: sequence }))
    await chain.report('detected', at('0', 4, 5_000_000n))
    await chain.report('detected', at('1', 9, 7_000_000n))
    // Another address that is paid before them has the first number now.
    await confirmed(at('1', 4, 5_000_000n), 11)
    await confirmed(at('2', 9, 7_000_000n), 12)
    const { payments = [] } = await read(order.id)
    expect(payments.map(({ status, amount }) => [status, amount])).toEqual([
      ['confirmed', '5.000000'],
      ['confirmed', '7.000000'],
    ])
  })

  it('is tried again for as long as it is worth when the reason is not known', async () => {
    await system.stop()
    system = await startOrders({ CHAIN_EVENT_PATIENCE_S: '300' })
    chain = listener(system.bus)
    const order = await create()
    await system.sql.query('ALTER TABLE payments ADD CONSTRAINT planted CHECK (revision > 9)')
    const published = chain.report('confirmed', chain.payment(order))
    const retried = async () =>
      Number(
        /^ponte_events_handled_total\{[^}]*type="payment.confirmed"[^}]*outcome="retried"[^}]*\} (.*)$/m.exec(
          (await request(system.ops).get('/metrics')).text,
        )?.[1],
      )
    await until(async () => (await retried()) > 4, 'it is not tried again')
    expect(await metric('ponte_dead_letters_waiting')).toBe(0)
    await system.sql.query('ALTER TABLE payments DROP CONSTRAINT planted')
    await published
    expect((await read(order.id)).status).toBe('paid')
  })
})

it('finds by itself what the listener has confirmed and orders never received', async () => {
  const order = await create()
  const paid = chain.payment(order)
  await chain.report('confirmed', paid)
  await chain.advances(new Date())
  const line = (id: string) => `${id} router ${order.memo} ${paid.amount.replace('.', '').replace(/^0+/, '')} 10`
  const digest = (...lines: string[]) => createHash('md5').update(lines.sort().join('\n')).digest('hex')
  const audits = (...ids: string[]) =>
    system.bus.publish(
      message('chain.audited', {
        ...{ chain_id: 31337, sequence: 1 },
        spans: [
          { from_block: 0, to_block: 9, count: 0, digest: '' },
          { from_block: 10, to_block: 59, count: ids.length, digest: digest(...ids.map(line)) },
        ],
      }),
    )
  await audits(paid.payment_id)
  await until(async () => (await metric('ponte_reconcile_last_run_timestamp_seconds')) > 0, 'nothing was compared')
  expect(await metric('ponte_reconcile_differences')).toBe(0)
  await audits(paid.payment_id, `31337:0x${'cd'.repeat(32)}:0`)
  await until(async () => (await metric('ponte_reconcile_differences')) === 1, 'a payment that did not arrive is not noticed')
  await audits(paid.payment_id)
  await until(async () => (await metric('ponte_reconcile_differences')) === 0, 'it is still noticed')
})
