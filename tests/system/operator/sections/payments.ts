import { randomBytes } from 'node:crypto'
import type { OrderBody } from '@ponte/contracts'
import { startLocalChain } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, pay } from '../../../world'
import { type Installation, startInstallation } from '../installation'

// Sections of docs/operating/incidents.md about payments and the chain, followed: the condition is made, what the section names is looked at, done, and over.

let ponte: Installation
beforeAll(async () => {
  ponte = await startInstallation()
}, 180_000)
afterAll(() => ponte?.stop(), 120_000)

const blocks = async () => (await ponte.world.chain.provider.getBlockNumber()) + 1
interface Status {
  halted: string | null
  trust: { unproven: unknown }
}

it('PontePaymentsUnmatched', async () => {
  const order = await ponte.order()
  for (let count = 0; count < 6; count++) await pay(ponte.world.chain, { ...order, memo: randomBytes(32).toString('hex') }, 1_000_000n)
  await ponte.becomes('orders', 'ponte_unmatched_payments_total', value => value > 5)
  const { data } = await ponte.json<{ data: { reason: string }[] }>('orders', '/unmatched')
  expect(data.slice(0, 6).map(({ reason }) => reason)).toEqual(Array(6).fill('unknown_memo'))
  const counted = await ponte.metric('orders', 'ponte_unmatched_payments_total')
  await pay(ponte.world.chain, order)
  await ponte.paid(order)
  expect(await ponte.metric('orders', 'ponte_unmatched_payments_total')).toBe(counted)
}, 180_000)

it('PonteConfirmedPaymentVanished', async () => {
  const order = await ponte.order()
  const { blockNumber } = await pay(ponte.world.chain, order)
  await ponte.paid(order)
  await ponte.world.chain.reorg((await blocks()) - blockNumber)
  await ponte.becomes('orders', 'ponte_reorged_payments_total', value => value > 0)
  await ponte.logs('orders', 'a reorg took away a confirmed payment')
  const listed = await call<{ data: OrderBody[] }>(ponte.gatewayUrl, 'GET', '/api/v1/orders?exception=reorged', ponte.merchant.api_key)
  expect(listed.data.map(({ id }) => id)).toEqual([order.id])
  await pay(ponte.world.chain, order)
  await ponte.paid(order)
  await ponte.becomes('orders', 'ponte_reconcile_differences', value => value === 0)
}, 180_000)

it('PonteChainUnproven', async () => {
  ponte.node.set({
    each: (call, answer) =>
      call.method === 'eth_getBlockReceipts'
        ? { id: answer.id, jsonrpc: '2.0', error: { code: -32601, message: 'the method eth_getBlockReceipts does not exist' } }
        : undefined,
  })
  const order = await ponte.order()
  await pay(ponte.world.chain, order)
  await ponte.becomes('chain-listener', 'ponte_chain_unproven_total', value => value > 0)
  expect((await ponte.json<Status>('chain-listener', '/status')).trust.unproven).toBeTruthy()
  await ponte.paid(order)
  await ponte.change('chain-listener', { RPC_URLS: `${ponte.node.url},${ponte.world.chain.rpcUrl}` })
  const next = await ponte.order()
  await pay(ponte.world.chain, next)
  await ponte.paid(next)
  expect(await ponte.metric('chain-listener', 'ponte_chain_unproven_total')).toBe(0)
  ponte.node.set()
  await ponte.change('chain-listener', { RPC_URLS: ponte.node.url })
}, 180_000)

it('PonteChainHalted', async () => {
  const other = await startLocalChain({ blockTimeS: 1 })
  try {
    await other.mine(300)
    Object.assign(ponte.settings['chain-listener'], { RPC_URLS: other.rpcUrl, WS_URL: '' })
    await ponte.processes.end('chain-listener', 'SIGTERM')
    // It stays up, not ready, for as long as it is halted.
    const starting = ponte.processes.start('chain-listener').catch(() => undefined)
    const halted = () => ponte.metric('chain-listener', 'ponte_chain_halted').catch(() => 0)
    await until(
      async () => (await halted()) === 1,
      () => ponte.processes.output('chain-listener'),
      60_000,
    )
    expect((await ponte.json<Status>('chain-listener', '/status')).halted).toBeTruthy()
    await ponte.change('chain-listener', { RPC_URLS: ponte.node.url, WS_URL: ponte.world.chain.wsUrl })
    await ponte.becomes('chain-listener', 'ponte_chain_leader', value => value === 1)
    expect(await ponte.metric('chain-listener', 'ponte_chain_halted')).toBe(0)
    const order = await ponte.order()
    await pay(ponte.world.chain, order)
    await ponte.paid(order)
    await starting
  } finally {
    await other.stop()
  }
}, 300_000)

it('PonteBooksNotAudited: an end point that answers the auditor nothing is replaced', async () => {
  ponte.node.set({
    each: (call, answer) =>
      call.method === 'eth_getLogs' ? { id: answer.id, jsonrpc: '2.0', error: { code: -32000, message: 'unavailable' } } : undefined,
  })
  await ponte.logs('chain-listener', 'reconciliation failed')
  await ponte.change('chain-listener', { RPC_URLS: ponte.world.chain.rpcUrl })
  // A process that has not finished a look yet knows of none.
  await until(
    async () => (await ponte.metric('chain-listener', 'ponte_reconcile_differences')) >= 0,
    'the books are not audited again',
    60_000,
  )
  ponte.node.set()
  await ponte.change('chain-listener', { RPC_URLS: ponte.node.url })
}, 180_000)
