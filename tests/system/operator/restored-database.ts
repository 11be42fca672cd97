import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWebhookReceiver, type ServiceName, startAll } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { type Entry, Ponte } from '@ponte/sdk'
import { until } from '@ponte/service-kit'
import { administer } from '@ponte/service-kit/testing'
import { Client } from 'pg'
import { call, createMerchant, pay, startWorld, units, type World } from '../../world'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

const start = () => startAll(world.place, { logger: world.logger, settings: { orders: { RECONCILE_EVERY_S: '1' } } })
const databaseOf = (service: ServiceName) => new URL(world.place.databaseUrl(service)).pathname.slice(1)

/** Keeps a service's database as it is, to be put back in its place later; the services stand still meanwhile. */
async function keep(service: ServiceName): Promise<() => Promise<void>> {
  const [name, kept] = [databaseOf(service), `${databaseOf(service)}_kept`]
  await administer(`CREATE DATABASE ${kept} OWNER ${name} TEMPLATE ${name}`)
  return () => administer(`DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE ${kept} RENAME TO ${name}`)
}
/** `ponte listen` in a process of its own. */
function startListening(apiKey: string, url: string, target: string) {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-listen-'))
  const program = join(__dirname, '../../../packages/cli/dist/main.js')
  const env = { PATH: process.env.PATH, PONTE_CONFIG_DIR: folder, PONTE_API_KEY: apiKey, PONTE_URL: url }
  const args = ['--json', 'listen', '--forward-to', target, '--secret', 'whsec_of_this_machine']
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  let notes = ''
  child.stderr.on('data', chunk => {
    notes += chunk
  })
  return {
    notes: () => notes,
    /** The event behind which it would go on. */
    position(): unknown {
      const { profiles } = JSON.parse(readFileSync(join(folder, 'profiles.json'), 'utf8'))
      const [profile] = Object.values(profiles)
      return Object.values(Object(profile).listen.positions)[0]
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
async function query(service: ServiceName, sql: string) {
  const client = new Client({ connectionString: world.place.databaseUrl(service) })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

it('orders, restored to an earlier moment without a runbook: what was paid since is paid, what was ordered since is named with its money, and expiry goes on', async () => {
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
    // No runbook: the listener states again what orders no longer knows, once it hears how far orders has followed, which comes every minute.
    await until(() => isPaid(before.id), 'what was paid is lost', 120_000)
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
}, 300_000)

it('orders, restored to an earlier moment: a follower of the entries has those that stand, also when more were booked since than were lost', async () => {
  let system = await start()
  const merchant = await createMerchant(world, system.gatewayUrl)
  const ponte = new Ponte(merchant.api_key, { baseUrl: system.gatewayUrl })
  const all = async () => (await ponte.entries.list({ limit: 100 })).data
  // A merchant's program, and what it has booked.
  let booked: Entry[] = []
  const resets: string[] = []
  const ending = new AbortController()
  const onReset = (resumeAfter: string) => {
    resets.push(resumeAfter)
    booked = booked.filter(({ sequence }) => sequence <= Number.parseInt(resumeAfter, 10))
  }
  const following = (async () => {
    for await (const entry of ponte.entries.follow({ after: 0, limit: 2, everyMs: 50, signal: ending.signal, onReset })) booked.push(entry)
  })()
  const payOne = async () => {
    const { length } = await all()
    await pay(world.chain, await ponte.orders.create({ brl_amount: '150.00' }))
    await until(async () => (await all()).length > length, 'nothing is booked', 60_000)
    await system.idle()
  }
  const hasAll = () =>
    until(
      async () => JSON.stringify(booked) === JSON.stringify(await all()),
      async () => `it has ${JSON.stringify(booked)}, and there is ${JSON.stringify(await all())}`,
      60_000,
    )
  try {
    await payOne()
    await hasAll()
    const common = booked.length
    await system.stop()
    const restore = await keep('orders')

    system = await start()
    await payOne()
    await payOne()
    await hasAll()
    const read = booked.length
    await system.stop()
    await restore()

    // More is booked while the program is not there than it had read.
    ending.abort()
    await following
    system = await start()
    do await payOne()
    while ((await all()).length <= read)
    const again = new AbortController()
    const rest = { after: booked.at(-1)?.cursor ?? 0, limit: 2, everyMs: 50, signal: again.signal, onReset }
    const goingOn = (async () => {
      for await (const entry of ponte.entries.follow(rest)) booked.push(entry)
    })()
    await hasAll().finally(() => again.abort())
    await goingOn
    expect(resets).toEqual([expect.stringMatching(new RegExp(`^${common}-[0-9a-f]{16}$`))])
    // A number alone shows it only beyond the newest.
    const beyond = await fetch(`${system.gatewayUrl}/api/v1/entries?after=999`, {
      headers: { Authorization: `Bearer ${merchant.api_key}` },
    })
    expect([beyond.status, await beyond.json()]).toEqual([
      410,
      expect.objectContaining({ code: 'events_reset', resume_after: booked.at(-1)?.cursor }),
    ])
  } finally {
    ending.abort()
    await following
    await system.stop()
  }
}, 240_000)

it('chain-listener, restored to an earlier moment without a runbook: nothing is unseen, nothing is counted twice, and what comes next is paid', async () => {
  let system = await start()
  const merchant = await createMerchant(world, system.gatewayUrl)
  const open = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  const read = (id: string) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
  const isPaid = async (id: string) => (await read(id)).status === 'paid'
  await system.idle()
  await system.stop()
  const restore = await keep('chain-listener')

  system = await start()
  const [between, later] = [await open(), await open()]
  await pay(world.chain, between)
  await until(() => isPaid(between.id), 'an order is not paid', 60_000)
  await system.idle()
  await system.stop()
  await restore()
  const [before] = await query('orders', 'SELECT generation FROM chain_cursors')

  system = await start()
  try {
    const { deposit_address: address } = later.payment
    if (address === null) throw new Error('the order has no deposit address')
    await mined(world.chain.mintUsdc(address, units(later.usdc_amount)))
    await until(() => isPaid(later.id), 'an order of the gap is not paid', 60_000)
    const after = await open()
    await pay(world.chain, after)
    await until(() => isPaid(after.id), 'a new order is not paid', 60_000)
    await system.idle()
    expect((await read(between.id)).payments).toHaveLength(1)
    const [now] = await query('orders', 'SELECT generation FROM chain_cursors')
    expect(now.generation > before.generation).toBe(true)
  } finally {
    await system.stop()
  }
}, 240_000)

it('webhook-dispatcher, restored to an earlier moment: a follower and `ponte listen` have every event that stands, also when more have come since than were lost', async () => {
  let system = await start()
  const merchant = await createMerchant(world, system.gatewayUrl)
  const ponte = new Ponte(merchant.api_key, { baseUrl: system.gatewayUrl })
  const made: string[] = []
  const make = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const { id } = await ponte.orders.create({ brl_amount: '1.00' })
      await ponte.orders.cancel(id)
      made.push(id)
    }
    await system.idle()
  }
  const ending = new AbortController()
  const seen = new Set<string>()
  const resets: (string | null)[] = []
  const follower = (async () => {
    const notify = { onReset: ({ resumeAfter }: { resumeAfter: string | null }) => void resets.push(resumeAfter) }
    for await (const { data } of ponte.events.follow({ after: 0, waitS: 1, signal: ending.signal, ...notify }))
      seen.add(String(Object(data).id))
  })()
  const shop = createWebhookReceiver({ host: '127.0.0.1', port: 0 })
  await shop.start?.()
  shop.trust('whsec_of_this_machine')
  const listening = startListening(merchant.api_key, system.gatewayUrl, `127.0.0.1:${shop.port()}/webhooks`)
  const forwarded = () => new Set(shop.received.map(({ body }) => String(JSON.parse(body).data.id)))
  const haveSeen = (ids: string[]) =>
    until(
      async () => ids.every(id => seen.has(id) && forwarded().has(id)),
      () => `${seen.size} and ${forwarded().size} of ${made.length} were seen: ${listening.notes()}`,
      60_000,
    )
  try {
    await until(() => listening.notes().includes('Forwarding to'), 'it does not listen')
    await make(3)
    await haveSeen(made)
    await system.stop()
    const restore = await keep('webhook-dispatcher')

    system = await start()
    await make(3)
    await haveSeen(made)
    await system.stop()
    await restore()
    system = await start()
    const before = (await ponte.events.list({ limit: 1 })).data[0]?.sequence ?? 0
    await make(4)
    await haveSeen(made.slice(-4))
    const resumed = new RegExp(`^${before}-`)
    expect(resets).toEqual([expect.stringMatching(resumed)])
    expect(listening.notes().match(/Forwarding goes on after (\S+)\./g)).toEqual([`Forwarding goes on after ${resets[0]}.`])
    // Where its next start goes on is an event of the database that stands.
    const newest = (await ponte.events.list({ limit: 1 })).data[0]?.cursor
    await until(
      () => listening.position() === newest,
      () => `it goes on from ${listening.position()}, not ${newest}`,
    )
  } finally {
    await listening.stop()
    await shop.stop?.()
    ending.abort()
    await follower
    await system.stop()
  }
}, 240_000)
