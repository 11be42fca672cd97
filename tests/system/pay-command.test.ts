import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createSamplePayer,
  createWebhookReceiver,
  localRoutes,
  openState,
  prepareDemoMerchant,
  type System,
  startAll,
} from '@ponte/all-in-one'
import type { AttentionItemBody, OrderBody } from '@ponte/contracts'
import { until as eventually } from '@ponte/service-kit'
import request from 'supertest'
import { call, createMerchant, PAYER, startWorld, units, type World } from '../world'

const program = join(__dirname, '../../scripts/develop/pay.mjs')

let world: World
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>
let folder: string
beforeAll(async () => {
  world = await startWorld()
  const gatewayUrl = world.place.publicUrl
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl })
  const webFolder = join(__dirname, '../../packages/web/dist')
  const local = localRoutes({ payer, webFolder, publicUrl: gatewayUrl, apiKey: () => merchant?.api_key })
  system = await startAll(world.place, { logger: world.logger, local })
  merchant = await createMerchant(world, system.gatewayUrl)
  folder = mkdtempSync(join(tmpdir(), 'ponte-pay-'))
  writeFileSync(join(folder, 'embedded.json'), JSON.stringify({ gateway_url: gatewayUrl, receiver_url: world.receiverUrl }))
})
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface AttentionList {
  data: AttentionItemBody[]
}

const makeOrder = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
const readOrder = ({ id }: OrderBody) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)

async function npmRunPay(args: string[], stateFolder = folder) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, PONTE_STATE_DIR: stateFolder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

describe('npm run pay', () => {
  it('pays what is due by a plain transfer, for the link of a checkout, and shows the order become paid', async () => {
    const order = await makeOrder()
    const { code, output } = await npmRunPay([order.payment.checkout_url])
    expect(output).toContain(`to ${order.payment.deposit_address}`)
    expect(output).toContain('The payment is confirmed.')
    expect(code).toBe(0)
    const { status, payments = [] } = await readOrder(order)
    expect([status, payments.map(({ kind }) => kind)]).toEqual(['paid', ['transfer']])
  })

  it('pays through the router, a part first and then the rest', async () => {
    const order = await makeOrder()
    const first = await npmRunPay([order.id, '--router', '--amount', '1.5'])
    expect(first.output).toContain('Sent 1.500000 USDC through the router')
    expect((await readOrder(order)).status).toBe('underpaid')
    const rest = await npmRunPay([order.id, '--router'])
    expect(rest.output).toContain(`Order ${order.id} is paid.`)
    const { payments = [] } = await readOrder(order)
    expect(payments.reduce((sum, { amount }) => sum + units(amount), 0n)).toBe(units(order.usdc_amount))
    expect(await npmRunPay([order.id])).toMatchObject({ code: 1, output: expect.stringContaining('asks for nothing') })
  })

  it('names what is wrong with how it was asked', async () => {
    expect(await npmRunPay(['INV-7'])).toMatchObject({ code: 1, output: expect.stringContaining('Name one order') })
    expect(await npmRunPay(['--amount', '1,5', '019c0000-0000-7000-8000-000000000000'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('1,5 is no amount of USDC'),
    })
    expect(await npmRunPay(['019c0000-0000-7000-8000-000000000000'])).toMatchObject({ code: 1, output: expect.stringContaining('404') })
    const elsewhere = join(folder, 'nothing')
    expect(await npmRunPay(['019c0000-0000-7000-8000-000000000000'], elsewhere)).toMatchObject({
      code: 1,
      output: expect.stringContaining('Start it first: npm start'),
    })
  })
})

describe('the demo merchant', () => {
  const email = 'demo@ponte.example'
  const receiver = createWebhookReceiver({ host: '127.0.0.1', port: 0 })
  const prepared = async (file: ReturnType<typeof openState>) => {
    const { url: authUrl, publicClientKey } = world.place.identity
    file.save({ publicClientKey })
    await world.identity.ensureUser(email, file.state.demoPassword)
    await prepareDemoMerchant({ system, file, receiver, receiverUrl: 'http://127.0.0.1:8091', authUrl, email })
    const { demoMerchant } = file.state
    await call(system.gatewayUrl, 'GET', '/api/v1/orders', demoMerchant?.api_key ?? '')
    return demoMerchant
  }

  it('has a key that works, also when its file was lost, or the databases that the file is about', async () => {
    const file = openState(join(folder, 'demo'))
    const made = await prepared(file)
    expect(await prepared(file)).toEqual(made)
    const again = await prepared(openState(join(folder, 'demo-anew')))
    expect([again?.id, again?.webhook_secret, again?.api_key === made?.api_key]).toEqual([made?.id, made?.webhook_secret, false])
    // The first file's key is unknown by now, as it is to other databases.
    expect((await prepared(file))?.id).toBe(made?.id)
  })
})

describe('the sample payer of a local system', () => {
  const order = (body: object) => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, body)
  const payIt = async ({ id }: { id: string }, body: object = {}) => {
    const answer = await fetch(`${system.gatewayUrl}/sample-payer/orders/${id}/pay`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as { code?: string; scenario?: string; payments?: { tx_hash: string }[] } }
  }
  const kindsOf = async ({ id }: OrderBody) => {
    const { data } = await call<{ data: { type: string; data: { id: string } }[] }>(
      system.gatewayUrl,
      'GET',
      '/api/v1/events?after=0&limit=100',
      merchant.api_key,
    )
    // When the deposit is swept is another matter.
    return data.filter(event => event.data.id === id && event.type !== 'order.settled').map(({ type }) => type)
  }
  const becomes = async (wanted: OrderBody, kinds: string[]) => {
    await eventually(async () => (await kindsOf(wanted)).length >= kinds.length, `not ${kinds}`, 60_000)
    expect(await kindsOf(wanted)).toEqual(kinds)
  }

  it('always does the same with the same centavos, by real transactions', async () => {
    const made = await Promise.all(['10.01', '10.02', '10.04', '10.05'].map(brl_amount => order({ brl_amount })))
    const late = await order({ brl_amount: '10.03', expires_in: 10 })
    const [short, over, twice, halves] = made as [OrderBody, OrderBody, OrderBody, OrderBody]
    const answers = await Promise.all([...made, late].map(each => payIt(each)))
    expect(answers.map(({ status, body }) => [status, body.scenario])).toEqual(
      ['underpaid', 'overpaid', 'duplicate', 'halves', 'late'].map(scenario => [200, scenario]),
    )
    await becomes(short, ['order.underpaid'])
    await becomes(over, ['order.paid', 'order.overpaid'])
    await becomes(twice, ['order.paid', 'order.duplicate'])
    await becomes(late, ['order.expired', 'order.paid_late'])
    expect((await kindsOf(halves)).at(-1)).toBe('order.paid')
  }, 180_000)

  it('has the network take a confirmed payment back, and the issuer of USDC block the address', async () => {
    const taken = await order({ brl_amount: '10.06' })
    expect((await payIt(taken)).body.scenario).toBe('reorganised')
    await eventually(async () => (await readOrder(taken)).exception === 'reorged', 'the payment was not taken back', 60_000)
    expect([(await readOrder(taken)).status, await kindsOf(taken)]).toEqual(['pending', ['order.paid']])
    const blocked = await order({ brl_amount: '10.07' })
    expect((await payIt(blocked)).body.scenario).toBe('blocked')
    await becomes(blocked, ['order.paid'])
    const reasons = async ({ id }: OrderBody) => {
      const { data } = await call<AttentionList>(system.gatewayUrl, 'GET', '/api/v1/attention', merchant.api_key)
      return data.find(({ order }) => order?.id === id)?.reasons
    }
    await eventually(async () => (await reasons(blocked)) !== undefined, 'not in the list', 60_000)
    expect([await reasons(taken), await reasons(blocked)]).toEqual([['reorged'], ['settlement_blocked']])
  }, 180_000)

  it('shows the API key that works in the quickstart, on this machine alone', async () => {
    const quickstart = async (host: string) => (await request(system.gatewayUrl).get('/docs/quickstart').set('Host', host)).text
    expect(await quickstart('127.0.0.1')).toContain(`export PONTE_API_KEY=${merchant.api_key}`)
    expect(await quickstart('pay.example.com')).toContain('export PONTE_API_KEY=sk_live_…')
  })

  it('pays an order once that is clicked twice, and refuses what it cannot pay', async () => {
    const twice = await order({ brl_amount: '20.00' })
    const statuses = (await Promise.all([payIt(twice), payIt(twice)])).map(({ status }) => status)
    expect(statuses).toEqual([200, 409])
    expect((await payIt({ id: '019c0000-0000-7000-8000-000000000000' })).status).toBe(404)
    expect((await payIt({ id: 'INV-7' })).status).toBe(400)
    expect((await payIt(twice, { amount: '-1' })).body.code).toBe('invalid_request')
    expect((await payIt(await order({ brl_amount: '10.03' }))).body.code).toBe('invalid_state')
  })

  it('cannot be asked by a page of another origin: it wants JSON', async () => {
    const { id } = await order({ brl_amount: '20.00' })
    const answer = await fetch(`${system.gatewayUrl}/sample-payer/orders/${id}/pay`, { method: 'POST', body: '{}' })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([415, null])
  })

  it('stands below the checkout of this system alone: neither the pages nor a gateway by itself have it', async () => {
    const { id } = await order({ brl_amount: '20.00' })
    const page = await fetch(`${system.gatewayUrl}/pay/${id}`)
    expect(await page.text()).toContain('/sample-payer/script.js')
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    const built = join(__dirname, '../../packages/web/dist')
    const texts = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter(name => /\.(html|js|css)$/.test(name))
    expect(texts.filter(name => readFileSync(join(built, name), 'utf8').includes('sample-payer'))).toEqual([])
    const sources = readdirSync(join(__dirname, '../../services/api-gateway/src'), { recursive: true, encoding: 'utf8' })
    const gateway = sources
      .filter(name => name.endsWith('.ts'))
      .map(name => readFileSync(join(__dirname, '../../services/api-gateway/src', name), 'utf8'))
    expect(gateway.filter(text => text.includes('sample-payer'))).toEqual([])
  })
})
