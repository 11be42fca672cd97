import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSamplePayer, createWebhookReceiver, payerRoutes, type System, startWithSandbox } from '@ponte/all-in-one'
import { startHttpServer } from '@ponte/local-servers'
import { dedupeKey, isPonteError, Ponte, type StoredEvent, verifyWebhook } from '@ponte/sdk'
import { until } from '@ponte/service-kit'
import { call, createMerchant, PAYER, startWorld, type World } from '../world'
import { sellOnce, startProgram } from '../world/shop'

let world: World
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>
let line: Awaited<ReturnType<typeof startLine>>
let ponte: Ponte
let folder: string
beforeAll(async () => {
  world = await startWorld()
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl: world.place.publicUrl })
  const local = payerRoutes(payer, join(__dirname, '../../packages/web/dist'))
  system = await startWithSandbox(world.place, { ...{ chain: world.chain, payer, local }, logger: world.logger })
  folder = mkdtempSync(join(tmpdir(), 'ponte-cli-'))
  merchant = await createMerchant(world, system.gatewayUrl)
  line = await startLine(system.gatewayUrl)
  ponte = new Ponte(merchant.api_key, { baseUrl: line.url, timeoutMs: 30_000 })
})
afterAll(async () => {
  await line?.stop()
  await system?.stop()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

type Fault = 'cut before' | 'cut after' | 'busy'

/** A network between client and gateway: it loses requests and answers, and counts what came through. */
async function startLine(target: string) {
  let faults: Fault[] = []
  const forwarded: string[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk)
    const fault = faults.shift()
    if (fault === 'cut before') return request.socket.destroy()
    if (fault === 'busy') return response.writeHead(503, { 'Retry-After': '0' }).end('busy')
    forwarded.push(`${request.method} ${request.headers['idempotency-key'] ?? ''}`)
    const headers = Object.entries(request.headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name))
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
    const answer = await fetch(`${target}${request.url}`, {
      ...body,
      method: request.method ?? 'GET',
      headers: Object.fromEntries(headers) as Record<string, string>,
    })
    const text = await answer.text()
    if (fault === 'cut after') return request.socket.destroy()
    return response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' }).end(text)
  }
  return {
    ...(await startHttpServer(handle)),
    forwarded,
    next(...given: Fault[]) {
      faults = given
      forwarded.length = 0
    },
  }
}

const countOrders = async () => {
  let count = 0
  for await (const _ of ponte.orders.list({ limit: 2 })) count++
  return count
}

it('an order whose answer is lost is one order: its key stays the same over the attempts', async () => {
  const before = await countOrders()
  line.next('cut after', 'cut before')
  const order = await ponte.orders.create({ brl_amount: '150.00', external_ref: 'LOST-1' })
  expect(order).toMatchObject({ object: 'order', external_ref: 'LOST-1', usdc_amount: '27.675277' })
  expect(line.forwarded).toEqual([expect.stringMatching(/^POST [0-9a-f-]{36}$/), line.forwarded[0]])
  expect(await countOrders()).toBe(before + 1)
})

it('an error after the last attempt names the key, with which the same order comes of it later', async () => {
  line.next('cut after', 'busy', 'cut before')
  const error: unknown = await ponte.orders.create({ brl_amount: '10.00', external_ref: 'LOST-2' }).catch((caught: unknown) => caught)
  if (!isPonteError(error) || error.idempotencyKey === null) throw error
  expect(error).toMatchObject({ code: 'connection_failed', status: 0 })
  line.next()
  const { idempotencyKey } = error
  const order = await ponte.orders.create({ brl_amount: '10.00', external_ref: 'LOST-2' }, { idempotencyKey })
  const { data } = await ponte.orders.list({ external_ref: 'LOST-2' })
  expect(data.map(({ id }) => id)).toEqual([order.id])
})

it('a change without a key is not sent again when its fate is unknown', async () => {
  const subscription = await ponte.subscriptions.create({ brl_amount: '49.90' })
  line.next('cut after')
  await expect(ponte.subscriptions.update(subscription.id, { description: 'once' })).rejects.toMatchObject({ code: 'connection_failed' })
  expect(line.forwarded).toEqual(['PATCH '])
  expect((await ponte.subscriptions.get(subscription.id)).description).toBe('once')
})

it('refusals of the API come as errors whose code narrows', async () => {
  const refused: unknown = await ponte.orders.create({ brl_amount: '0' }).catch((caught: unknown) => caught)
  expect(refused).toMatchObject({ code: 'invalid_request', status: 400, requestId: expect.any(String) })
  expect(isPonteError(refused, 'invalid_request') && refused.errors.map(({ path }) => path)).toEqual(['brl_amount'])
  const stranger = new Ponte(`sk_live_${'0'.repeat(64)}`, { baseUrl: line.url })
  await expect(stranger.orders.list()).rejects.toMatchObject({ code: 'invalid_api_key', status: 401 })
  await expect(ponte.orders.get('019c0000-0000-7000-8000-000000000000')).rejects.toMatchObject({ code: 'not_found' })
  await expect(new Ponte(merchant.api_key, { baseUrl: world.place.identity.url }).orders.list()).rejects.toMatchObject({
    code: 'unexpected_answer',
  })
  await expect(ponte.orders.list({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
})

it('what the service sends is verified, and is the event that the list shows', async () => {
  const order = await ponte.orders.create({ brl_amount: '20.00' })
  await ponte.orders.cancel(order.id)
  await system.idle()
  const delivered = world.receiver.received.find(({ body }) => body.includes(order.id))
  const event = await verifyWebhook(delivered?.body ?? '', delivered?.headers['x-service-signature'], [
    'whsec_old',
    merchant.webhook_secret,
  ])
  expect(event).toEqual({ type: 'order.cancelled', data: { id: order.id, external_ref: null } })
  const { data } = await ponte.events.list({ type: 'order.cancelled', limit: 1 })
  expect(data[0]).toMatchObject({ object: 'event', ...event })
})

it('events are followed over cut connections: each one once, in order, without gaps', async () => {
  const wanted = 12
  const start = (await ponte.events.list({ limit: 1 })).data[0]?.sequence ?? 0
  const ends = new AbortController()
  const got: StoredEvent[] = []
  const retries: string[] = []
  const following = (async () => {
    const options = { signal: ends.signal, waitS: 2, limit: 5, onRetry: ({ code }: { code: string }) => retries.push(code) }
    for await (const event of ponte.events.follow({ ...options, after: start })) {
      got.push(event)
      if (got.length % 4 === 0) line.cut()
      if (got.length === wanted) ends.abort()
    }
  })()
  for (let n = 0; n < wanted; n++) {
    const order = await call<{ id: string }>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '1.00' })
    await call(system.gatewayUrl, 'POST', `/api/v1/orders/${order.id}/cancel`, merchant.api_key)
    if (n % 5 === 0) line.cut()
  }
  await following
  expect(got.map(({ sequence }) => sequence)).toEqual(Array.from({ length: wanted }, (_, n) => start + 1 + n))

  const beyond = ponte.events.follow({ after: start + 10_000 })
  await expect(beyond.next()).rejects.toMatchObject({ code: 'events_missing' })
  const types: string[] = []
  for await (const { type } of ponte.events.follow({ after: start, types: ['order.cancelled'], waitS: 0 })) {
    types.push(type)
    if (types.length === 3) break
  }
  expect(new Set(types)).toEqual(new Set(['order.cancelled']))
})

it('a key reads its merchant and the sums, and exports each list, with what a list of it holds', async () => {
  const named = { name: 'account', scopes: ['merchant:read'] }
  const key = await call<{ api_key: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/api-keys', merchant.token, named)
  expect((await new Ponte(key.api_key, { baseUrl: line.url }).merchant.get()).id).toBe(merchant.id)
  await expect(ponte.merchant.get()).rejects.toMatchObject({ code: 'forbidden' })
  const year = { from: '2026-01-01', to: '2026-12-31', timezone: 'UTC', by: 'month' } as const
  await expect(ponte.entries.summary(year)).resolves.toMatchObject({ object: 'summary' })
  const order = await ponte.orders.create({ brl_amount: '3.00', external_ref: 'EXPORTED' })
  expect(await ponte.orders.export({ status: 'pending' })).toContain(order.id)
  for (const list of [ponte.entries, ponte.attention, ponte.subscriptions]) expect(await list.export()).toMatch(/^\ufeff?\w+,/)
  await ponte.orders.cancel(order.id)
})

it("the merchant's user reads endpoints and deliveries with a session token", async () => {
  const session = new Ponte(() => merchant.token, { baseUrl: line.url })
  expect((await session.merchant.get()).id).toBe(merchant.id)
  expect((await session.merchant.endpoints.list())[0]?.id).toBe(merchant.id)
  const { data } = await session.merchant.deliveries.list({ limit: 1 })
  expect((await session.merchant.deliveries.get(data[0]?.id ?? '')).attempt_log.length).toBeGreaterThan(0)
  expect((await session.merchant.audit.list({ limit: 1 })).data).toHaveLength(1)
})

const ponteProgram = join(__dirname, '../../packages/cli/dist/main.js')

/** Runs a command on a terminal, types a line at the colon, and prints what the terminal showed. */
const AT_A_TERMINAL = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])
shown = b''
while not shown.endswith(b': '): shown += os.read(terminal, 1)
os.write(terminal, sys.argv[1].encode() + b'\\r')
try:
  while chunk := os.read(terminal, 1024): shown += chunk
except OSError: pass
print(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`

/** `ponte` as a person runs it, with a folder of its own for what it keeps. */
function ponteCommand(args: string[], env: Record<string, string> = {}, typed?: string) {
  const ponte = [process.execPath, ponteProgram, ...args]
  const [program = '', ...rest] = typed === undefined ? ponte : ['python3', '-c', AT_A_TERMINAL, typed, ...ponte]
  const child = spawn(program, rest, {
    cwd: folder,
    env: { PATH: process.env.PATH, PONTE_CONFIG_DIR: folder, PONTE_API_KEY: merchant.api_key, PONTE_URL: line.url, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => (output.stdout += chunk))
  child.stderr.on('data', chunk => (output.stderr += chunk))
  const done = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }))
  return { child, output, done }
}

describe('ponte', () => {
  const cancelOrder = async () => {
    const order = await ponte.orders.create({ brl_amount: '1.00' })
    await ponte.orders.cancel(order.id)
    return order.id
  }

  it('listen forwards every event, the bytes that webhooks send, over cut connections, a restart and a program that is down; none twice after dedupe', async () => {
    const shop = createWebhookReceiver({ host: '127.0.0.1', port: 0 })
    await shop.start?.()
    const secret = 'whsec_of_this_machine'
    shop.trust(secret)
    const start = (await ponte.events.list({ limit: 1 })).data[0]?.sequence ?? 0
    const args = ['--json', 'listen', '--forward-to', `127.0.0.1:${shop.port()}/webhooks`, '--secret', secret]
    const arrived = (ids: string[]) => () => ids.every(id => shop.received.some(({ body }) => body.includes(id)))
    const first = ponteCommand(args)
    await until(() => first.output.stderr.includes('Forwarding'), 'ponte listen does not begin', 30_000)

    const early = [await cancelOrder(), await cancelOrder()]
    await until(arrived(early), 'the first events did not come', 30_000)
    line.cut()
    shop.answerWith(500)
    const refused = await cancelOrder()
    await until(arrived([refused]), 'an event did not come', 30_000)
    line.cut()
    shop.answerWith(null)
    first.child.kill('SIGKILL')
    await first.done

    const away = [await cancelOrder(), await cancelOrder(), await cancelOrder()]
    const second = ponteCommand(args)
    await until(arrived(away), 'what came meanwhile was not forwarded', 30_000)
    second.child.stdin.write('r\n')
    const last = away.at(-1) ?? ''
    const countOf = (id: string) => shop.received.filter(({ body }) => body.includes(id)).length
    await until(() => countOf(last) === 2, 'r did not send the last one again', 30_000)
    second.child.kill('SIGTERM')
    expect(await second.done).toMatchObject({ code: 0 })

    expect(shop.received.every(({ signature_valid }) => signature_valid)).toBe(true)
    const keys = shop.received.map(({ body }) => dedupeKey(JSON.parse(body)))
    expect([...new Set(keys)]).toEqual([...early, refused, ...away].map(id => `order.cancelled:${id}:`))
    const sent = new Set(world.receiver.received.map(({ body }) => body))
    expect(shop.received.filter(({ body }) => !sent.has(body))).toEqual([])
    expect((await ponte.events.list({ limit: 1 })).data[0]?.sequence).toBe(start + 6)
    await shop.stop?.()
  }, 180_000)

  it('shows, pays, triggers and explains, as text or JSON', async () => {
    const run = async (...args: string[]) => ponteCommand(args).done
    const created = JSON.parse((await run('--json', 'orders', 'create', '30.00', '--ref', 'CLI-1')).stdout)
    expect(JSON.parse((await run('--json', 'orders', 'create', '30.00', '--ref', 'CLI-1')).stdout).id).toBe(created.id)
    const listed = await run('orders', 'list', '--filter', 'external_ref=CLI-1')
    expect(listed.stdout).toMatch(new RegExp(`${created.id} +pending`))
    expect(listed.stdout).not.toContain('\u001b')

    const paid = await run('pay', created.payment.checkout_url)
    expect([paid.code, paid.stdout]).toEqual([0, expect.stringContaining(`sent ${created.usdc_amount} USDC by transfer: 0x`)])
    await until(async () => (await ponte.orders.get(created.id)).status === 'paid', 'the order is not paid', 30_000)
    const triggered = JSON.parse((await run('--json', 'trigger', 'subscription.charged')).stdout)
    expect(triggered).toMatchObject({ type: 'subscription.charged', data: { brl_amount: '10.00' } })
    const scenarios = await run('simulate')
    expect(scenarios.stdout).toMatch(/after_cancel +order.cancelled, order.paid_after_cancel +cancelled/)
    const late = JSON.parse((await run('--json', 'trigger', 'order.paid_late')).stdout)
    expect(late).toMatchObject({ type: 'order.paid_late', livemode: false })
    const before = JSON.parse((await run('--json', 'clock')).stdout).now
    expect(Date.parse(JSON.parse((await run('--json', 'clock', 'PT2H')).stdout).now)).toBeGreaterThan(Date.parse(before) + 7_199_000)
    expect(await run('trigger', 'order.moved')).toMatchObject({ code: 1, stderr: expect.stringContaining('These can: order.paid') })
    expect(JSON.parse((await run('--json', 'status')).stdout)).toMatchObject({ url: line.url, chain_id: 31337 })

    expect(await run('deliveries', 'list')).toMatchObject({ code: 1, stderr: expect.stringContaining('ponte login --user') })
    const named = { name: 'reader', scopes: ['endpoints:read'] }
    const key = await call<{ api_key: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/api-keys', merchant.token, named)
    const reader = await ponteCommand(['endpoints', 'list'], { PONTE_API_KEY: key.api_key, PONTE_URL: line.url }).done
    expect(reader).toMatchObject({ code: 0, stdout: expect.stringContaining(world.receiverUrl) })
    expect(await ponteCommand(['login', '--user', merchant.email], { PONTE_PASSWORD: 'a-password-for-tests' }).done).toMatchObject({
      code: 0,
    })
    const login = await ponteCommand(['login', '--user', merchant.email], {}, 'a-password-for-tests').done
    expect(login).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Password: \s*Ponte at /) })
    expect((await run('deliveries', 'list')).stdout).toContain('delivered')
    expect((await run('endpoints', 'list')).stdout).toContain(world.receiverUrl)
    expect(statSync(join(folder, 'profiles.json')).mode & 0o777).toBe(0o600)
    expect(await run('orders', 'get', created.id, '--nonsense')).toMatchObject({ code: 1 })
    expect((await run('completion', 'bash')).stdout).toContain(
      'orders) words="list get cancel refunds recoveries export create accept explain"',
    )
  }, 180_000)
})

describe('the examples', () => {
  const fetchServer = join(__dirname, '../world/shop/fetch-server.mjs')
  it.each([
    ['express-shop', (here: string) => [process.execPath, join(here, 'express-shop/server.mjs')]],
    ['python-shop', (here: string) => ['python3', join(here, 'python-shop/shop.py')]],
    ['next-shop', (here: string) => [process.execPath, fetchServer, 'next', join(here, 'next-shop')]],
    ['fetch-shop', (here: string) => [process.execPath, fetchServer, 'fetch', join(here, 'fetch-shop')]],
  ])('%s sells: an order, a payment and a verified webhook', async (_, command) => {
    // Below this package, so that it finds the SDK and Express as installed ones.
    const here = mkdtempSync(join(__dirname, '../node_modules/.example-'))
    cpSync(join(__dirname, '../../examples'), here, { recursive: true })
    try {
      await sellOnce(world, system.gatewayUrl, settings => startProgram(command(here), settings))
    } finally {
      rmSync(here, { recursive: true, force: true })
    }
  })
})
