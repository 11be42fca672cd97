import { paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { Interface } from 'ethers'
import { calls, isMixedUp, lookThere, sendOn } from './stray-deposit'

const [memo, merchant, deposit, router, token] = ['ab'.repeat(32), ...['C', 'd', 'b', 'a'].map(digit => `0x${digit.repeat(40)}`)] as [
  ...[string, string, string, string, string],
]
const HASH = `0x${'5b'.repeat(32)}`
const abi = new Interface(paymentRouterAbi)

test('calls are those of the router and its token', () => {
  expect(calls.token).toBe(abi.encodeFunctionData('token'))
  expect(calls.depositAddress(memo, merchant)).toBe(abi.encodeFunctionData('depositAddress', [`0x${memo}`, merchant.toLowerCase()]))
  expect(calls.sweep(memo, merchant)).toBe(abi.encodeFunctionData('sweep', [`0x${memo}`, merchant.toLowerCase()]))
  expect(calls.balanceOf(deposit)).toBe(new Interface(testUsdcAbi).encodeFunctionData('balanceOf', [deposit]))
})

const payment = { chain_id: 1, router_address: router, merchant_address: merchant, deposit_address: deposit }
// biome-ignore lint/suspicious/noExplicitAny: what the rules read of an order.
const order = { memo, payment } as any
const padded = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

/** A wallet on chain 10 whose node knows the transaction, and 5 USDC at the address. */
const wallet = (change: Record<string, unknown> = {}, asked: unknown[] = []) => ({
  async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
    asked.push([method, ...params])
    const data = String(Reflect.get(Object(params[0]), 'data'))
    const key = method === 'eth_call' ? data.slice(0, 10) : method === 'eth_getCode' ? String(params[0]) : method
    const answers: Record<string, unknown> = {
      ...{
        eth_requestAccounts: [merchant],
        eth_chainId: '0xa',
        eth_getTransactionReceipt: { blockNumber: '0x1' },
        eth_sendTransaction: HASH,
      },
      ...{ [router]: '0x60', [merchant]: '0x', '0x7b1603b0': padded(deposit), '0xfc0c546a': padded(token), '0x70a08231': '0x4c4b40' },
      ...change,
    }
    if (answers[key] instanceof Error) throw answers[key]
    return answers[key]
  },
})

test('what lies at the address on another network is found, and sent on by the router to the payout address alone', async () => {
  const asked: unknown[] = []
  expect(await lookThere(wallet({}, asked), order, HASH)).toEqual({
    chainId: 10,
    units: 5_000_000n,
    merchantAddress: merchant,
    isContract: false,
  })
  expect(asked).toContainEqual(['eth_call', { to: token, data: calls.balanceOf(deposit) }, 'latest'])
  expect(await sendOn(wallet({}, asked), order, { chainId: 10, merchantAddress: merchant })).toBe(HASH)
  expect(asked.at(-1)).toEqual(['eth_sendTransaction', { from: merchant, to: router, data: calls.sweep(memo, merchant) }])
})

test('money at the address of another network of the order goes to the payout address of that other one', async () => {
  const [second, its] = ['e', 'F'].map(digit => `0x${digit.repeat(40)}`) as [string, string]
  const there = { ...payment, chain_id: 10, merchant_address: its, deposit_address: second }
  const both = { memo, payment: { ...payment, networks: [payment, there] } } as typeof order
  expect([deposit, second, second.toUpperCase().replace('X', 'x'), token, null].map(one => isMixedUp(both, one))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
  const found = await lookThere(wallet(), both, HASH)
  expect(found).toMatchObject({ chainId: 10, merchantAddress: merchant })
  const asked: unknown[] = []
  await sendOn(wallet({}, asked), both, found)
  expect(asked.at(-1)).toEqual(['eth_sendTransaction', { from: merchant, to: router, data: calls.sweep(memo, merchant) }])
  expect(await lookThere(wallet({ eth_chainId: '0x1', '0x7b1603b0': padded(second) }), both, HASH)).toMatchObject({
    chainId: 1,
    merchantAddress: its,
  })
})

test.each([
  ['offered', { eth_chainId: '0x1' }],
  ['unknown', { eth_getTransactionReceipt: null }],
  ['unknown', { eth_getTransactionReceipt: { blockNumber: undefined } }],
  ['no_router', { [router]: '0x' }],
  ['no_router', { '0x7b1603b0': padded(token) }],
  ['empty', { '0x70a08231': '0x0' }],
  ['no_account', { eth_requestAccounts: [] }],
  ['refused', { eth_requestAccounts: Object.assign(new Error('no'), { code: 4001 }) }],
  ['other', { '0xfc0c546a': new Error('no answer') }],
])('nothing is offered where it is %s', async (reason, change) => {
  await expect(lookThere(wallet(change), order, HASH)).rejects.toMatchObject({ reason })
})

test('nothing is sent on a network that the wallet went to meanwhile', async () => {
  await expect(sendOn(wallet({ eth_chainId: '0x89' }), order, { chainId: 10, merchantAddress: merchant })).rejects.toMatchObject({
    reason: 'moved',
    chainId: 10,
  })
})
