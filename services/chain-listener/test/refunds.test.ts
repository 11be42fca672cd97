import { type Fault, type FaultProxy, type LocalChain, mined, startFaultProxy, startLocalChain } from '@ponte/local-servers'
import { testUsdcAbi, transferWithAuthorizationTypedData } from '@ponte/payment-router'
import { Contract, hexlify, randomBytes, Wallet } from 'ethers'
import { createObservation } from '../src/refunds/observation'
import type { Watched } from '../src/refunds/store'
import type { Confirmed } from '../src/store/confirmed'
import { twoNodes } from './two-nodes'

// Two nodes must agree. One of them lies, or lags, in each way by which a signature would seem void, or a return done.

const UNITS = 5_000_000n
let chain: LocalChain
let proxy: FaultProxy
let from: Wallet
const payee = Wallet.createRandom()
beforeAll(async () => {
  chain = await startLocalChain()
  proxy = await startFaultProxy(chain.rpcUrl)
  from = chain.wallet(2)
  await mined(chain.mintUsdc(from.address, 100n * UNITS))
})
afterAll(async () => {
  await proxy?.stop()
  await chain?.stop()
})

const watched = (nonce: string): Watched => ({
  ...{ refundId: nonce, orderId: nonce, nonce, fromAddress: from.address.toLowerCase(), payee: payee.address.toLowerCase(), units: UNITS },
  ...{ watchFrom: 0, validBefore: null, asked: true, revision: 0, publishedTime: null, publishedBalance: null, ended: null },
})
async function returned(nonce: string): Promise<number> {
  const terms = { from: from.address, to: payee.address, value: UNITS, validBefore: 10n ** 10n, nonce }
  const { domain, types, message } = transferWithAuthorizationTypedData({
    ...terms,
    chainId: chain.chainId,
    usdcAddress: chain.usdcAddress,
  })
  const signature = await from.signTypedData(domain, types, message)
  const token = new Contract(chain.usdcAddress, testUsdcAbi, from)
  const send = token.getFunction('transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)')
  return (await mined(send.send(terms.from, terms.to, UNITS, 0, terms.validBefore, nonce, signature, { gasLimit: 300_000 }))).blockNumber
}
async function observe(nonce: string, fault: Fault = {}, change: Partial<Confirmed> = {}) {
  const { head, asked } = twoNodes(chain, proxy)
  const found = await asked(fault, async options =>
    createObservation({ ...options, token: chain.usdcAddress.toLowerCase() })({ ...(await head()), ...change }, [watched(nonce)]),
  )
  return found.map(({ ended, isFinal }) => ({ ended: ended && { kind: ended.kind, blockNumber: ended.blockNumber }, isFinal }))
}
const answering = (method: string, result: unknown): Fault => ({
  each: (call, answer) => (call.method === method ? { ...answer, result } : undefined),
})
const WORD = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

it('says what both nodes have: nothing, and then the transfer, once it is there at the confirmed block', async () => {
  const nonce = hexlify(randomBytes(32))
  const before = await twoNodes(chain, proxy).head()
  expect(await observe(nonce)).toEqual([{ ended: null, isFinal: false }])
  const blockNumber = await returned(nonce)
  expect(await observe(nonce)).toEqual([{ ended: { kind: 'transferred', blockNumber }, isFinal: false }])
  expect(await observe(nonce, {}, before)).toEqual([{ ended: null, isFinal: false }])
  await chain.mine(64)
  expect(await observe(nonce)).toEqual([{ ended: { kind: 'transferred', blockNumber }, isFinal: true }])
})

it('searches for the end of a nonce that both have unused from there on alone', async () => {
  const nonce = hexlify(randomBytes(32))
  await chain.mine(80)
  const { head, asked } = twoNodes(chain, proxy)
  const confirmed = await head()
  const at = (quorum: number) =>
    asked({}, async options =>
      createObservation({ ...options, quorum, token: chain.usdcAddress.toLowerCase() })(confirmed, [watched(nonce)]),
    )
  expect(await at(2)).toMatchObject([{ ended: null, searchFrom: confirmed.number - 64 }])
  expect(await at(1)).toMatchObject([{ ended: null, searchFrom: 0 }])
})

it('says nothing where one of them has it unused, shows no log of it, or is of another chain', async () => {
  const nonce = hexlify(randomBytes(32))
  await returned(nonce)
  for (const fault of [answering('eth_call', WORD(0)), answering('eth_getLogs', []), answering('eth_chainId', '0x1')])
    expect(await observe(nonce, fault)).toEqual([])
})

it('says nothing where one of them has an unused nonce as used, or another confirmed block', async () => {
  const nonce = hexlify(randomBytes(32))
  expect(await observe(nonce, answering('eth_call', WORD(1)))).toEqual([])
  expect(await observe(nonce, {}, { hash: `0x${'ab'.repeat(32)}` })).toEqual([])
})
