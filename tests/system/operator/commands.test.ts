import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { OrderBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { type Ledger, openLedger } from '../../torture/ledger'
import { call, createMerchant, pay, runSystem, system, world } from '../../world'

let ledger: Ledger
afterAll(() => ledger?.stop())
runSystem({ settings: { orders: { CHAIN_EVENT_PATIENCE_S: '0', RECONCILE_EVERY_S: '1' } }, merchant: false })
beforeAll(() => {
  ledger = openLedger(world.place.databaseUrl)
})

/** Runs a command as an operator does, with the ops ports in its environment. */
async function operate(program: string, ...given: (string | Record<string, string>)[]) {
  const args = given.filter(each => typeof each === 'string')
  const env = Object.assign({}, ...given.filter(each => typeof each !== 'string'))
  const ports = Object.entries(system.opsUrls).map(([service, url]) => [`${service.toUpperCase().replaceAll('-', '_')}_OPS_URL`, url])
  const child = spawn(process.execPath, [join(__dirname, '../../../scripts/operate', program), ...args], {
    env: { PATH: process.env.PATH, ...Object.fromEntries(ports), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

it('npm run dead lists, shows and retries what could not be handled, and the payment counts in the end', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  await ledger.query('orders', 'ALTER TABLE payments ADD CONSTRAINT planted CHECK (version < 0) NOT VALID')
  await pay(world.chain, order)
  // The event that confirms the payment may follow.
  const listed = async () => /orders: [12]\n {2}(\S+) {2}chain\.blocks/.exec((await operate('dead.mjs', 'list')).output)?.[1]
  await until(async () => (await listed()) !== undefined, 'nothing is listed')
  const id = (await listed()) ?? ''
  const shown = await operate('dead.mjs', 'show', id)
  expect(JSON.parse(shown.output)).toMatchObject({
    service: 'orders',
    id,
    event: { data: { payments: [expect.objectContaining({ memo: order.memo })] } },
  })
  expect(await operate('dead.mjs', 'show', 'unknown')).toMatchObject({ code: 1, output: expect.stringContaining('No service has') })
  for (const wrong of [[], ['retry'], ['retry', id, '--all'], ['list', '--service', 'nobody']])
    expect((await operate('dead.mjs', ...wrong)).code).toBe(1)
  await ledger.query('orders', 'ALTER TABLE payments DROP CONSTRAINT planted')
  expect(await operate('dead.mjs', 'retry', id)).toEqual({ code: 0, output: 'orders: 1 put back into its queue.\n' })
  const isEmpty = async () => (await operate('dead.mjs', 'list', '--service', 'orders')).output === 'orders: 0\n'
  await until(async () => (await operate('dead.mjs', 'retry', '--all')).code === 0 && (await isEmpty()), 'letters stay')
  const read = () => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
  await until(async () => (await read()).status === 'paid', 'the payment does not count')
  expect((await operate('dead.mjs', 'discard', '--all')).code).toBe(1)
  expect(await operate('dead.mjs', 'discard', id)).toEqual({ code: 0, output: '' })
}, 240_000)

it('npm run rescan has blocks read again, and states when they are', async () => {
  await ledger.query('chain-listener', 'DELETE FROM payments')
  const { code, output } = await operate('rescan.mjs', '--from', '0', '--to', '100000')
  expect([code, output]).toEqual([0, expect.stringContaining('Blocks 0 to 100000 were read again.')])
  expect(await ledger.query('chain-listener', 'SELECT 1 FROM payments')).toHaveLength(1)
  expect((await operate('rescan.mjs', '--from', '5', '--to', '4')).code).toBe(1)
})

it('npm run freeze stops changes of an account until --end', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const me = '/api/v1/merchants/me/rotate-webhook-secret'
  const rotate = () => call(system.gatewayUrl, 'POST', me, merchant.token)
  const frozen = await operate('freeze.mjs', merchant.id)
  expect(frozen).toEqual({ code: 0, output: expect.stringMatching(/ is frozen since 2\S+; 0 changes wait\.\n$/) })
  await expect(rotate()).rejects.toThrow('frozen')
  expect(await operate('freeze.mjs', merchant.id, '--end')).toEqual({
    code: 0,
    output: expect.stringMatching(/ is not frozen; 0 changes wait\.\n$/),
  })
  await rotate()
  for (const wrong of [[], [merchant.id, merchant.id], ['x']]) expect((await operate('freeze.mjs', ...wrong)).code).toBe(1)
})

it('npm run status: all is well; then a difference in the books, and a service that does not answer', async () => {
  const seen = () => operate('status.mjs')
  await until(
    async () => (await seen()).code === 0,
    async () => (await seen()).output,
    60_000,
  )
  expect((await seen()).output).toMatch(/ok {5}chain +block \d+, \d+ s old, \d+ behind[\s\S]*\nAll is well\.\n$/)
  await ledger.query('orders', 'UPDATE orders SET confirmed_units = confirmed_units + 1')
  await until(
    async () => (await seen()).output.includes('differences: orders 1'),
    async () => (await seen()).output,
    90_000,
  )
  const planted = await seen()
  expect([planted.code, planted.output]).toEqual([1, expect.stringMatching(/WRONG {2}books[\s\S]*books: npm run reconcile/)])
  await ledger.query('orders', 'UPDATE orders SET confirmed_units = confirmed_units - 1')
  const away = await operate('status.mjs', { SUBSCRIPTIONS_OPS_URL: 'http://127.0.0.1:9' })
  expect([away.code, away.output]).toEqual([1, expect.stringMatching(/WRONG {2}subscriptions +no answer at http:\/\/127\.0\.0\.1:9\n/)])
}, 180_000)
