import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type System, startAll } from '@ponte/all-in-one'
import type { AttentionItemBody, OrderBody, RefundBody } from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import pg from 'pg'
import { audit, type OpsUrls } from '../../audit'
import { call, createMerchant, MERCHANT, PAYER, pay, startWorld, units, type World } from '../../world'

const program = join(__dirname, '../../../scripts/operate/reconcile.mjs')
const OTHER = 31_338
let world: World
let other: LocalChain
let system: System
let urls: OpsUrls
let books: pg.Pool
let there: pg.Pool
let halves: OrderBody
let returned: RefundBody

beforeAll(async () => {
  world = await startWorld({ otherChains: [{ chainId: OTHER }] })
  const [second] = world.otherChains
  if (!second) throw new Error('There is no second network.')
  other = second
  // Plants in the ledger stay as they are.
  system = await startAll(world.place, { logger: world.logger, settings: { orders: { RECONCILE_EVERY_S: '86400' } } })
  urls = { ...system.opsUrls, otherListeners: Object.values(system.otherOpsUrls) }
  books = new pg.Pool({ connectionString: world.place.databaseUrl('orders'), max: 1 })
  there = new pg.Pool({ connectionString: world.place.others?.[0]?.databaseUrl, max: 1 })
  const merchant = await createMerchant(world, system.gatewayUrl)
  const ask = <T>(method: string, path: string, body?: object) =>
    call<T>(system.gatewayUrl, method, `/api/v1${path}`, merchant.api_key, body)
  const order = () => ask<OrderBody>('POST', '/orders', { brl_amount: '150.00' })
  const read = ({ id }: OrderBody) => ask<OrderBody>('GET', `/orders/${id}`)
  const mineThere = (done: () => Promise<boolean>, message: string) => until(async () => other.mine(1).then(done), message, 30_000)
  const isSettled = async (of: OrderBody) => {
    const { status, payments = [] } = await read(of)
    return status === 'paid' && payments.every(({ settlement }) => settlement.status === 'settled')
  }
  const payer = other.wallet(PAYER.privateKey)
  const transfer = async (to: string | null | undefined, amount: bigint) => {
    await mined(other.mintUsdc(payer.address, amount))
    return mined(other.transferUsdc(payer, to ?? '', amount))
  }

  halves = await order()
  const half = units(halves.usdc_amount) / 2n
  await pay(world.chain, halves, half)
  await transfer(halves.payment.deposit_address, half)
  const routed = await order()
  await pay(other, routed)
  await pay(other, { ...routed, memo: 'ab'.repeat(32) })
  const waiting = await order()
  await transfer(waiting.payment.deposit_address, units(waiting.usdc_amount) / 3n)
  await mineThere(async () => (await isSettled(halves)) && (await isSettled(routed)), 'they were not settled')
  await mineThere(async () => (await read(waiting)).payments?.[0]?.settlement.status === 'settled', 'it was not swept')
  const narrowed = () => ask<OrderBody>('POST', '/orders', { brl_amount: '150.00', chain_ids: [world.chain.chainId] })
  const [uncounted, byRouter, counted] = [await narrowed(), await narrowed(), await narrowed()]
  const part = units(counted.usdc_amount) / 2n
  await transfer(uncounted.payment.deposit_address, part)
  await pay(other, byRouter)
  const { hash } = await transfer(counted.payment.deposit_address, part)
  await transfer(counted.payment.deposit_address, part)
  const found = async () =>
    (await ask<{ data: AttentionItemBody[] }>('GET', '/attention')).data.find(({ payment }) => payment?.tx_hash === hash)
  await mineThere(async () => (await found()) !== undefined, 'it is not named')
  await mineThere(async () => (await other.balanceOf(uncounted.payment.deposit_address ?? '')) === 0n, 'it was not swept')
  await ask('POST', `/attention/${(await found())?.id}/attach`, { order_id: counted.id, reason: 'The payer chose it' })
  await mineThere(() => isSettled(counted), 'it was not counted and swept')
  const back = { amount: '5', payee_address: Wallet.createRandom().address, reason: 'It came back', chain_id: OTHER }
  returned = await ask<RefundBody>('POST', `/orders/${routed.id}/refunds`, back)
  const { domain, types, message } = returned.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
  const signature = await new Wallet(MERCHANT.privateKey).signTypedData(domain, types, message)
  await ask('POST', `/refunds/${returned.id}/signature`, { valid_before: Number(message.validBefore), signature })
  await mineThere(async () => (await ask<RefundBody>('GET', `/refunds/${returned.id}`)).status === 'confirmed', 'it did not go back')
  await system.idle()
}, 180_000)
afterAll(async () => {
  await Promise.all([books, there].map(pool => pool?.end()))
  await system?.stop()
  await world?.stop()
})

/** An hour later, so that what waits since a moment counts as late. */
const look = async (of = urls) => (await audit(of, { from: 0, to: undefined, now: Date.now() + 3_600_000 })).differences
const named = (part: string) => expect.arrayContaining([expect.stringContaining(part)])

it('names no difference of two networks, and the blocks of each', async () => {
  expect(await look()).toEqual([])
  const { code, output } = await reconcile()
  expect([code, output]).toEqual([0, expect.stringMatching(/^Blocks 0 to \d+ of chain 31337: 1 payments, 0 of them/m)])
  expect(output).toMatch(/^Blocks 0 to \d+ of chain 31338: 8 payments, 3 of them/m)
})

it('fault: names what orders has of the second network and its chain has not, and what its chain has otherwise', async () => {
  const onSecond = `order_id = '${halves.id}' AND id LIKE '${OTHER}:%'`
  const plants: [name: string, pool: pg.Pool, change: string, undo: string][] = [
    [
      `unfounded: ${OTHER}:`,
      books,
      `INSERT INTO payments SELECT (json_populate_record(payments, json_build_object('id', '${OTHER}:0xfeed:7', 'log_index', 7))).* FROM payments WHERE ${onSecond}`,
      `DELETE FROM payments WHERE id = '${OTHER}:0xfeed:7'`,
    ],
    [
      'unfounded: 1:0xfeed:7 in payments is unknown to every listener that was asked: none is of chain 1',
      books,
      `INSERT INTO payments SELECT (json_populate_record(payments, json_build_object('id', '1:0xfeed:7', 'log_index', 7))).* FROM payments WHERE ${onSecond}`,
      "DELETE FROM payments WHERE id = '1:0xfeed:7'",
    ],
    [
      'amount: payment',
      books,
      `UPDATE payments SET gross_units = gross_units + 1 WHERE ${onSecond}`,
      `UPDATE payments SET gross_units = gross_units - 1 WHERE ${onSecond}`,
    ],
    [
      'in block',
      there,
      `UPDATE payments SET amount = amount + 1 WHERE kind = 'transfer' AND memo = '${halves.memo}'`,
      `UPDATE payments SET amount = amount - 1 WHERE kind = 'transfer' AND memo = '${halves.memo}'`,
    ],
    [
      `order ${halves.id} on chain ${OTHER} has`,
      books,
      `UPDATE order_networks SET blocked_reason = 'token_paused' WHERE order_id = '${halves.id}'`,
      `UPDATE order_networks SET blocked_reason = NULL WHERE order_id = '${halves.id}'`,
    ],
    [
      `chain: refund ${returned.id} has "1"`,
      books,
      `UPDATE refunds SET chain_id = 1 WHERE id = '${returned.id}'`,
      `UPDATE refunds SET chain_id = ${OTHER} WHERE id = '${returned.id}'`,
    ],
  ]
  for (const [name, pool, change, undo] of plants) {
    await pool.query(change)
    const found = await look()
    await pool.query(undo)
    expect([name, found]).toEqual([name, named(name)])
  }
  expect(await look()).toEqual([])
})

it('fault: takes what came on a network for unfounded whose listener is not asked', async () => {
  expect(await look({ ...urls, otherListeners: [] })).toEqual(named(`none is of chain ${OTHER}`))
})

it('holds what came on a network against nothing once it is retired, and states that', async () => {
  const first = { ...urls, otherListeners: [] }
  const options = { from: 0, to: undefined, now: Date.now() + 3_600_000, retired: [OTHER] }
  expect(await audit(first, options)).toMatchObject({
    differences: [],
    unchecked: expect.arrayContaining([`what is of chain ${OTHER}, which is retired`]),
  })
  await expect(audit(urls, options)).rejects.toThrow('its listener is asked')
  await books.query(`UPDATE orders SET status = 'underpaid' WHERE id = '${halves.id}'`)
  expect((await audit(first, options)).differences).toEqual(named(`status: order ${halves.id}`))
  await books.query(`UPDATE orders SET status = 'paid' WHERE id = '${halves.id}'`)
})

/** As an operator starts it. */
const reconcile = () =>
  new Promise<{ code: number; output: string }>(resolve => {
    const env = {
      PATH: process.env.PATH,
      CHAIN_LISTENER_OPS_URL: urls['chain-listener'],
      CHAIN_LISTENER_2_OPS_URL: urls.otherListeners?.[0],
      ORDERS_OPS_URL: urls.orders,
      WEBHOOK_DISPATCHER_OPS_URL: urls['webhook-dispatcher'],
      API_GATEWAY_OPS_URL: urls['api-gateway'],
      SUBSCRIPTIONS_OPS_URL: urls.subscriptions,
    }
    execFile(process.execPath, [program], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
