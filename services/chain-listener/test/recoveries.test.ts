import { type Fault, type FaultProxy, type LocalChain, mined, startFaultProxy, startLocalChain } from '@ponte/local-servers'
import { deployContracts, depositAddress, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { Contract, hexlify, randomBytes } from 'ethers'
import { RECOVERED_TOPIC } from '../src/logs/recovered'
import { createObservation } from '../src/recoveries/observation'
import type { Watched } from '../src/recoveries/store'
import type { Confirmed } from '../src/store/confirmed'
import { twoNodes } from './two-nodes'

// Two nodes must agree. One of them lies, or lags, in each way by which a token would seem to be recovered, or not to be.

const UNITS = 5_000_000n
let chain: LocalChain
let proxy: FaultProxy
let foreign: Contract
let merchant: string
beforeAll(async () => {
  chain = await startLocalChain()
  proxy = await startFaultProxy(chain.rpcUrl)
  merchant = chain.wallet(2).address
  const stranger = chain.wallet(7)
  const { usdcAddress } = await deployContracts(stranger, { feeBps: 100, feeReceiver: stranger.address })
  foreign = new Contract(usdcAddress, testUsdcAbi, stranger)
})
afterAll(async () => {
  await proxy?.stop()
  await chain?.stop()
})

const newMemo = () => hexlify(randomBytes(32)).slice(2)
const watched = (memo: string, watchFrom = 0): Watched => ({
  ...{ recoveryId: memo, orderId: memo, memo, router: chain.routerAddress.toLowerCase(), merchant: merchant.toLowerCase() },
  ...{ token: String(foreign.target).toLowerCase(), watchFrom, asked: true, revision: 0, failure: null, ended: null },
})
async function recovered(memo: string): Promise<number> {
  await mined(foreign.getFunction('mint').send(depositAddress({ router: chain.routerAddress, memo, merchant }), UNITS))
  const router = new Contract(chain.routerAddress, paymentRouterAbi, chain.wallet(7))
  return (await mined(router.getFunction('recover').send(`0x${memo}`, merchant, foreign.target))).blockNumber
}
async function observe(of: Watched, fault: Fault = {}, change: Partial<Confirmed> = {}) {
  const { head, asked } = twoNodes(chain, proxy)
  const found = await asked(fault, async options => createObservation(options)({ ...(await head()), ...change }, [of]))
  return found.map(({ ended, isFinal }) => ({ ended: ended && { units: ended.units, blockNumber: ended.blockNumber }, isFinal }))
}
const answering = (method: string, result: (answered: unknown) => unknown): Fault => ({
  each: (call, answer) => (call.method === method ? { ...answer, result: result(answer.result) } : undefined),
})
const logsWith = (change: object) =>
  answering('eth_getLogs', logs => (Array.isArray(logs) ? logs.map((log: object) => ({ ...log, ...change })) : logs))

it('states what both nodes have: nothing, and then the end, once it is there at the confirmed block', async () => {
  const memo = newMemo()
  const before = await twoNodes(chain, proxy).head()
  expect(await observe(watched(memo))).toEqual([{ ended: null, isFinal: false }])
  const blockNumber = await recovered(memo)
  expect(await observe(watched(memo))).toEqual([{ ended: { units: UNITS, blockNumber }, isFinal: false }])
  expect(await observe(watched(memo), {}, before)).toEqual([{ ended: null, isFinal: false }])
  // A token that was recovered before it was asked for is another recovery's.
  expect(await observe(watched(memo, blockNumber + 1))).toEqual([{ ended: null, isFinal: false }])
  await chain.mine(64)
  expect(await observe(watched(memo))).toEqual([{ ended: { units: UNITS, blockNumber }, isFinal: true }])
})

it.each<[string, Fault]>([
  ['shows no log of it', answering('eth_getLogs', () => [])],
  ['shows it of another order', logsWith({ topics: [RECOVERED_TOPIC, `0x${newMemo()}`] })],
  ['shows another amount', logsWith({ data: `0x${'1'.padStart(64, '0')}` })],
  ['shows it in another transaction', logsWith({ transactionHash: `0x${'77'.repeat(32)}` })],
  ['shows it in an earlier block', logsWith({ blockNumber: '0x1' })],
  ['shows a token’s own log as the router’s', logsWith({ address: `0x${'aa'.repeat(20)}` })],
  ['is of another chain', answering('eth_chainId', () => '0x1')],
])('states nothing where one of them %s', async (_, fault) => {
  const memo = newMemo()
  await recovered(memo)
  expect(await observe(watched(memo), fault)).toEqual([])
})

it('states nothing where one of them has invented it, or has another confirmed block', async () => {
  const memo = newMemo()
  const { number, hash } = await twoNodes(chain, proxy).head()
  const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
  const invented = {
    ...{ address: chain.routerAddress.toLowerCase(), data: `0x${UNITS.toString(16).padStart(64, '0')}`, logIndex: '0x0', removed: false },
    ...{ blockNumber: `0x${number.toString(16)}`, blockHash: hash, transactionHash: `0x${'77'.repeat(32)}`, transactionIndex: '0x0' },
    topics: [RECOVERED_TOPIC, `0x${memo}`, word(merchant), word(String(foreign.target))],
  }
  expect(
    await observe(
      watched(memo),
      answering('eth_getLogs', () => [invented]),
    ),
  ).toEqual([])
  expect(await observe(watched(memo), {}, { hash: `0x${'ab'.repeat(32)}` })).toEqual([])
})
