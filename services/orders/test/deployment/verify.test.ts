import { text } from 'node:stream/consumers'
import { type LocalChain, startHttpServer, startLocalChain } from '@ponte/local-servers'
import { readConfig, until } from '@ponte/service-kit'
import request from 'supertest'
import { ordersConfig } from '../../src'
import { asMerchant, settings, startOrders } from '../setup'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

const configured = (change: Record<string, string> = {}) => ({
  RPC_URLS: chain.rpcUrl,
  TOKEN_ADDRESS: chain.usdcAddress,
  ROUTER_ADDRESS: chain.routerAddress,
  PLATFORM_FEE_BPS: String(chain.feeBps),
  ...change,
})

it.each([
  ['another fee', () => ({ PLATFORM_FEE_BPS: '250' }), 'fee in basis points'],
  ['another token', () => ({ TOKEN_ADDRESS: chain.rateFeedAddress }), 'decimals'],
  ['a router that does not stand', () => ({ ROUTER_ADDRESS: chain.feeReceiver }), 'no router stands at'],
  ['another chain', () => ({ CHAIN_ID: '11155111' }), 'the node is of chain 31337'],
])('refuses to start on %s', async (_, change, message) => {
  await expect(startOrders(configured(change()))).rejects.toThrow(message)
})

it('a chain that cannot be reached opens no order, and ends no service', async () => {
  let isUp = false
  const proxy = await startHttpServer(async (req, res) => {
    if (!isUp) return res.writeHead(503).end()
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(chain.rpcUrl, { method: 'POST', body: await text(req), headers })
    return res.writeHead(answer.status, headers).end(await answer.text())
  })
  const system = await startOrders(configured({ RPC_URLS: proxy.url }))
  const open = () => request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '10' })
  const refused = await open()
  expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([503, 'service_unavailable', '10'])
  expect((await request(system.url).get('/api/v1/orders').set(asMerchant())).status).toBe(200)
  isUp = true
  await until(async () => (await open()).status === 201, 'the chain was not verified', 30_000)
  await system.stop()
  await proxy.stop()
})

it('asks the next node when one does not answer', async () => {
  const system = await startOrders(configured({ RPC_URLS: `http://127.0.0.1:1,${chain.rpcUrl}` }))
  expect((await request(system.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '10' })).status).toBe(201)
  await system.stop()
})

it('is not optional where money is real', () => {
  const read = (more: Record<string, string>) => () =>
    readConfig(ordersConfig, { ...settings('postgres://x'), DEVELOPMENT_CHAIN: 'false', PONTE_MODE: 'live', ...more })
  expect(read({ DEPOSIT_FACTORY: 'none' })).toThrow('RPC_URLS')
  expect(read({ RPC_URLS: chain.rpcUrl })).toThrow('DEPOSIT_FACTORY')
  expect(read({ RPC_URLS: chain.rpcUrl, DEPOSIT_FACTORY: 'none' })).not.toThrow()
})
