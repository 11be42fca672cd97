import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type ServiceName, startAll } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { administer } from '@ponte/service-kit/testing'
import { Client } from 'pg'
import { call, createMerchant, pay, startWorld, units, type World } from '../../world'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 120_000)
afterAll(() => world?.stop())

const start = () => startAll(world.place, { logger: world.logger, settings: { orders: { RECONCILE_EVERY_S: '1' } } })
const databaseOf = (service: ServiceName) => new URL(world.place.databaseUrl(service)).pathname.slice(1)

async function republish(opsUrls: Record<string, string>, ...args: string[]) {
  const ports = Object.entries(opsUrls).map(([service, url]) => [`${service.toUpperCase().replaceAll('-', '_')}_OPS_URL`, url])
  const child = spawn(process.execPath, [join(__dirname, '../../../scripts/operate/republish.mjs'), ...args], {
    env: { PATH: process.env.PATH, ...Object.fromEntries(ports) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

/** What the database of a service is at a moment, put back in its place later; the services stand still meanwhile. */
async function keep(service: ServiceName): Promise<() => Promise<void>> {
  const [name, kept] = [databaseOf(service), `${databaseOf(service)}_kept`]
  await administer(`CREATE DATABASE ${kept} OWNER ${name} TEMPLATE ${name}`)
  return () => administer(`DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE ${kept} RENAME TO ${name}`)
}
async function query(service: ServiceName, sql: string) {
  const client = new Client({ connectionString: world.place.databaseUrl(service) })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}
const missing = 'SELECT greatest(0, (SELECT max(sequence) FROM chain_advances) - watermark)::int AS count FROM chain_cursors'

it('orders, restored to an earlier moment: what was paid since is paid, what was ordered since is named with its money, and expiry goes on', async () => {
  let system = await start()
  const merchant = await createMerchant(world, system.gatewayUrl)
  const open = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  const read = (id: string) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
  const isPaid = async (id: string) => (await read(id)).status === 'paid'
  const metric = async (name: string) => {
    const text = await (await fetch(`${system.opsUrls.orders}/metrics`)).text()
    return Number(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const before = await open()
  await system.idle()
  await system.stop()
  const restore = await keep('orders')
  const restoredTo = new Date()

  system = await start()
  const lost = await open()
  for (const order of [before, lost]) {
    await pay(world.chain, order)
    await until(() => isPaid(order.id), 'an order is not paid', 60_000)
  }
  await system.idle()
  await system.stop()
  await restore()

  system = await start()
  try {
    expect([await isPaid(before.id), (await read(before.id)).status]).toEqual([false, 'pending'])
    await until(async () => (await metric('ponte_payment_events_missing')) > 0, 'the gap is not noticed', 60_000)
    expect((await republish(system.opsUrls)).code).toBe(1)
    expect(await republish(system.opsUrls, '--since', restoredTo.toISOString())).toEqual({
      code: 0,
      output: expect.stringMatching(/^api-gateway: 0 events[\s\S]*\nchain-listener: [1-9]\d* events are published again/),
    })
    await until(() => isPaid(before.id), 'what was paid is lost', 60_000)
    await until(async () => (await metric('ponte_payment_events_missing')) === 0, 'expiry waits for ever', 60_000)
    const unmatched = await (await fetch(`${system.opsUrls.orders}/unmatched`)).json()
    expect(unmatched).toMatchObject({
      data: [expect.objectContaining({ memo: lost.memo, reason: 'unknown_memo', amount: lost.usdc_amount })],
    })
    await until(async () => (await metric('ponte_reconcile_differences')) === 0, 'the books differ', 60_000)
    await expect(read(lost.id)).rejects.toThrow('404')
  } finally {
    await system.stop()
  }
}, 240_000)

it('chain-listener, restored to an earlier moment and numbered on from what orders knows: nothing is counted twice, and what comes next is paid', async () => {
  let system = await start()
  const merchant = await createMerchant(world, system.gatewayUrl)
  const open = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  const read = (id: string) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
  const isPaid = async (id: string) => (await read(id)).status === 'paid'
  await system.idle()
  await system.stop()
  const restore = await keep('chain-listener')
  const restoredTo = new Date()

  system = await start()
  const [between, later] = [await open(), await open()]
  await pay(world.chain, between)
  await until(() => isPaid(between.id), 'an order is not paid', 60_000)
  await system.idle()
  await system.stop()
  await restore()
  const HIGHEST = `SELECT greatest((SELECT max(sequence) FROM chain_advances), (SELECT max(sequence) FROM payment_sequences), max(watermark))::text AS number FROM chain_cursors`
  const [highest] = await query('orders', HIGHEST)
  await query('chain-listener', `UPDATE chain_cursor SET sequence = greatest(sequence, ${highest.number})`)

  system = await start()
  try {
    await republish(system.opsUrls, '--since', restoredTo.toISOString(), '--service', 'orders')
    const { deposit_address: address } = later.payment
    if (address === null) throw new Error('the order has no deposit address')
    await mined(world.chain.mintUsdc(address, units(later.usdc_amount)))
    await until(() => isPaid(later.id), 'an order of the gap is not paid', 60_000)
    const after = await open()
    await pay(world.chain, after)
    await until(() => isPaid(after.id), 'a new order is not paid', 60_000)
    await system.idle()
    expect((await read(between.id)).payments).toHaveLength(1)
    expect(await query('orders', missing)).toEqual([{ count: 0 }])
  } finally {
    await system.stop()
  }
}, 240_000)
