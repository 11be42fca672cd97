import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type System, startAll } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { call, createMerchant, PAYER, startWorld, units, type World } from '../world'

const program = join(__dirname, '../../scripts/develop/pay.mjs')

let world: World
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>
let folder: string
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
  merchant = await createMerchant(world, system.gatewayUrl)
  folder = mkdtempSync(join(tmpdir(), 'ponte-pay-'))
  const { rpcUrl, chainId, usdcAddress } = world.chain
  const place = { gateway_url: system.gatewayUrl, receiver_url: world.receiverUrl, rpc_url: rpcUrl, chain_id: chainId }
  writeFileSync(join(folder, 'embedded.json'), JSON.stringify({ ...place, usdc_address: usdcAddress, payer_private_key: PAYER.privateKey }))
}, 120_000)
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

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
  }, 120_000)

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
  }, 120_000)

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
  }, 60_000)
})
