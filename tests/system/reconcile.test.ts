import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type System, startAll } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { type Ledger, openLedger } from '../torture/ledger'
import { call, createMerchant, PAYER, pay, startWorld, units, type World } from '../world'

const program = join(__dirname, '../../scripts/operate/reconcile.mjs')

let world: World
let system: System
let ledger: Ledger
/** Transactions of six orders paid in full, and of a payment with an unknown memo; a deposit is the eighth payment. */
const paid: string[] = []
beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, { logger: world.logger })
  ledger = openLedger(world.place.databaseUrl)
  const merchant = await createMerchant(world, system.gatewayUrl)
  const order = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  for (let index = 0; index < 6; index++) paid.push((await pay(world.chain, await order())).hash)
  const stray = { ...(await order()), memo: 'ab'.repeat(32) }
  paid.push((await pay(world.chain, stray)).hash)
  const deposited = await order()
  await mined(world.chain.mintUsdc(PAYER.address, units(deposited.usdc_amount)))
  const payer = world.chain.wallet(PAYER.privateKey)
  await mined(world.chain.transferUsdc(payer, deposited.payment.deposit_address ?? '', units(deposited.usdc_amount)))
  await system.idle()
}, 120_000)
afterAll(async () => {
  await ledger?.stop()
  await system?.stop()
  await world?.stop()
})

async function reconcile(...args: string[]) {
  const env = { PATH: process.env.PATH, CHAIN_LISTENER_OPS_URL: system.opsUrls['chain-listener'], ORDERS_OPS_URL: system.opsUrls.orders }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

/** One way in which each kind of difference would show in the books; each on a payment of its own. */
const planted: [string, 'orders' | 'chain-listener', string][] = [
  ['missing: log', 'chain-listener', "UPDATE payments SET state = 'orphaned' WHERE tx_hash = $1"],
  ['changed: log', 'chain-listener', 'UPDATE payments SET amount = amount - 1 WHERE tx_hash = $1'],
  ['unfounded: log', 'chain-listener', 'UPDATE payments SET log_index = log_index + 5 WHERE tx_hash = $1'],
  ['amount: payment', 'orders', 'UPDATE payments SET gross_units = gross_units + 1 WHERE tx_hash = $1'],
  ['received: order', 'orders', 'UPDATE orders SET confirmed_units = 0 WHERE tx_hash = $1'],
  ['status: order', 'orders', "UPDATE orders SET status = 'pending' WHERE tx_hash = $1"],
  ['lost: payment', 'orders', 'DELETE FROM unmatched_payments WHERE tx_hash = $1'],
]

describe('issue: npm run reconcile', () => {
  it('says how much was compared, and ends with 0, when the chain and the books agree', async () => {
    const { code, output } = await reconcile()
    expect(output).toMatch(/: 8 payments, 1 of them settle nothing/)
    expect(output).toContain('The chain and the books agree.')
    expect(code).toBe(0)
    expect((await reconcile('--from-block', '0', '--to-block', '1')).output).toContain('Blocks 0 to 1: 0 payments')
  }, 60_000)

  it('names every kind of difference, and ends with 1', async () => {
    for (const [index, [, service, sql]] of planted.entries()) await ledger.query(service, sql, [paid[index]])
    const { code, output } = await reconcile()
    for (const [index, [kind]] of planted.entries()) {
      const named = kind.endsWith('order') ? `^DIFFERENCE  ${kind}` : `^DIFFERENCE  ${kind}.*${paid[index]}`
      expect(output).toMatch(new RegExp(named, 'm'))
    }
    expect(code).toBe(1)
  }, 60_000)

  it('says what is wrong with how it was asked', async () => {
    expect(await reconcile('--from-block', 'genesis')).toMatchObject({ code: 1, output: expect.stringContaining('A block is a number') })
    expect(await reconcile('--from-block', '999999')).toMatchObject({ code: 1, output: expect.stringContaining('not confirmed yet') })
  }, 60_000)
})
