import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { type Ledger, openLedger } from '../../torture/ledger'
import { call, createMerchant, PAYER, pay, runSystem, system, units, world } from '../../world'

const often = { RECONCILE_EVERY_S: '1' }
let ledger: Ledger
afterAll(() => ledger?.stop())
runSystem({ settings: { orders: often, 'chain-listener': often }, merchant: false })
beforeAll(() => {
  ledger = openLedger(world.place.databaseUrl)
})

const differences = async () => {
  const text = await (await fetch(`${system.opsUrls.orders}/metrics`)).text()
  return Number(/^ponte_reconcile_differences\{[^}]*\} (.*)$/m.exec(text)?.[1])
}
/** The last sums of the listener, as it published them. */
const audited = async () => {
  const [row] = await ledger.query<{ spans: { count: number }[] }>(
    'chain-listener',
    "SELECT body::jsonb->'data'->'spans' AS spans FROM outbox WHERE type = 'chain.audited' ORDER BY id DESC LIMIT 1",
  )
  return (row?.spans ?? []).reduce((sum, { count }) => sum + count, 0)
}

it('PonteBooksDiffer: orders and listener sum up the same books alike, and a payment that reached one alone is noticed within its minute', async () => {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const create = () => call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  const [paid, deposited] = [await create(), await create()]
  await pay(world.chain, paid)
  await pay(world.chain, { ...paid, memo: 'cd'.repeat(32) })
  await mined(world.chain.mintUsdc(PAYER.address, units(deposited.usdc_amount)))
  const payer = world.chain.wallet(PAYER.privateKey)
  await mined(world.chain.transferUsdc(payer, deposited.payment.deposit_address ?? '', units(deposited.usdc_amount)))
  // Two router payments, a transfer, and its sweep.
  await until(
    async () => (await audited()) === 4,
    async () => `the listener sums up ${await audited()} rows`,
    60_000,
  )
  await until(async () => (await differences()) === 0, 'orders sums up the same otherwise', 30_000)
  const rows = await ledger.query('orders', 'SELECT * FROM payments WHERE order_id = $1', [paid.id])
  await ledger.query('orders', 'DELETE FROM payments WHERE order_id = $1', [paid.id])
  // The order itself, which its payments do not explain any more, and the span of its block.
  await until(async () => (await differences()) >= 2, 'it is not noticed', 30_000)
  expect(rows).toHaveLength(1)
})
