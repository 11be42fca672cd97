import { type Fault, type FaultProxy, type LocalChain, mined, startFaultProxy, startLocalChain } from '@ponte/local-servers'
import { deployContracts, depositAddress, testUsdcAbi } from '@ponte/payment-router'
import { silentLogger } from '@ponte/service-kit'
import { Contract, type TransactionResponse, Wallet } from 'ethers'
import { openNode } from '../src/rpc/node'
import { openNodes } from '../src/rpc/pool'
import { createTransactionReader } from '../src/transaction'

// Two nodes must agree; the second is at fault where a test has it so.

const AMOUNT = 5_000_000n
const MEMO = `0x${'ab'.repeat(32)}`
let chain: LocalChain
let proxy: FaultProxy
let payer: Wallet
const merchant = Wallet.createRandom().address
beforeAll(async () => {
  chain = await startLocalChain()
  proxy = await startFaultProxy(chain.rpcUrl)
  payer = chain.wallet(2)
  await mined(chain.mintUsdc(payer.address, 100n * AMOUNT))
})
afterAll(async () => {
  await proxy?.stop()
  await chain?.stop()
})

const deposit = () => depositAddress({ router: chain.routerAddress, memo: MEMO, merchant })

interface Reading {
  fault?: Fault
  urls?: string[]
  first?: string
}
async function read(hash: string, { fault = {}, urls = [chain.rpcUrl, proxy.url], first = deposit() }: Reading = {}) {
  proxy.set(fault)
  const options = { chainId: chain.chainId, timeoutMs: 5_000, maxBytes: 10_000_000, rangeMax: 5_000 }
  const nodes = openNodes(
    urls.map((url, index) => openNode(url, index, options)),
    { clock: () => performance.now(), logger: silentLogger, onFailOver: () => undefined },
  )
  const [token, router] = [chain.usdcAddress.toLowerCase(), chain.routerAddress.toLowerCase()]
  const reader = createTransactionReader({ chainId: chain.chainId, token, routers: [router], quorum: 2, nodes })
  const facts = await reader(hash, first)
  await nodes.close()
  return facts
}
const time = async (blockNumber: number) => new Date(Number((await chain.provider.getBlock(blockNumber))?.timestamp) * 1_000).toISOString()
const facts = async (sent: Promise<TransactionResponse>) => {
  const { hash, blockNumber } = await mined(sent)
  return { hash, minedFacts: { chain_id: chain.chainId, status: 'mined', depth: 1, block_time: await time(blockNumber) } }
}
const answering = (method: string, change: (result: never) => unknown): Fault => ({
  each: (call, answer) => (call.method === method ? { ...answer, result: change(answer.result as never) } : undefined),
})

it('shows a payment by the router with its memo, and how deep it is', async () => {
  const { hash, minedFacts } = await facts(chain.pay(payer, { memo: MEMO, merchant, amount: AMOUNT }))
  const paid = { token_address: chain.usdcAddress, router_address: chain.routerAddress, memo: MEMO.slice(2), merchant_address: merchant }
  const payments = [{ ...paid, units: String(AMOUNT), is_sweep: false }]
  expect(await read(hash)).toMatchObject({ ...minedFacts, payments })
  await chain.mine(4)
  expect(await read(hash)).toMatchObject({ depth: 5, payments })
})

it('shows a transfer to a deposit address, and its sweep as no payment', async () => {
  const sent = await facts(chain.transferUsdc(payer, deposit(), AMOUNT))
  const transfer = { token_address: chain.usdcAddress, to_address: deposit(), units: String(AMOUNT) }
  expect(await read(sent.hash)).toEqual({ ...sent.minedFacts, transfers: [transfer], payments: [] })
  const swept = await facts(chain.sweep(payer, { memo: MEMO, merchant }))
  const sweep = { memo: MEMO.slice(2), merchant_address: merchant, units: String(AMOUNT), is_sweep: true }
  expect(await read(swept.hash)).toMatchObject({ payments: [sweep] })
})

it('shows another token, and the coin of the network', async () => {
  const other = await deployContracts(chain.wallet(5), { feeBps: 100, feeReceiver: payer.address })
  const token = new Contract(other.usdcAddress, testUsdcAbi, chain.wallet(5))
  const minted = await facts(token.getFunction('mint').send(deposit(), AMOUNT))
  const transfers = [{ token_address: other.usdcAddress, to_address: deposit(), units: String(AMOUNT) }]
  expect(await read(minted.hash)).toEqual({ ...minted.minedFacts, transfers, payments: [] })
  const coin = await facts(payer.sendTransaction({ to: Wallet.createRandom().address, value: 7n }))
  expect(await read(coin.hash)).toMatchObject({ transfers: [{ token_address: null, units: '7' }] })
})

it('shows one that reverted, one that waits, and one that there is not', async () => {
  const reverted = await chain.transferUsdc(chain.wallet(3), deposit(), AMOUNT)
  await expect(reverted.wait()).rejects.toThrow()
  expect(await read(reverted.hash)).toMatchObject({ status: 'reverted', depth: 1, transfers: [] })
  const none = { chain_id: chain.chainId, depth: 0, block_time: null, transfers: [], payments: [] }
  expect(await read(`0x${'5b'.repeat(32)}`)).toEqual({ ...none, status: 'not_found' })
  await chain.provider.send('evm_setAutomine', [false])
  const waiting = await chain.transferUsdc(payer, deposit(), AMOUNT)
  expect(await read(waiting.hash)).toEqual({ ...none, status: 'pending' })
  await chain.mine()
  await chain.provider.send('evm_setAutomine', [true])
  expect(await read(waiting.hash)).toMatchObject({ status: 'mined', depth: 1 })
})

it('answers nothing where a node has it otherwise, has none of it, is of another chain, or does not answer', async () => {
  const { hash } = await mined(chain.transferUsdc(payer, deposit(), AMOUNT))
  const faults = [
    answering('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, status: '0x0' })),
    answering('eth_getTransactionReceipt', () => null),
    answering('eth_getBlockByNumber', (block: object) => ({ ...block, timestamp: '0x1' })),
    answering('eth_chainId', () => '0x1'),
  ]
  for (const fault of faults) expect(await read(hash, { fault })).toBeUndefined()
  expect(await read(hash, { urls: [chain.rpcUrl] })).toBeUndefined()
  expect(await read(`0x${'5b'.repeat(32)}`, { urls: [chain.rpcUrl] })).toBeUndefined()
})

it('lists what was sent to the address of the order first, and is as deep as enough nodes have come', async () => {
  const { hash } = await mined(chain.pay(payer, { memo: MEMO, merchant, amount: AMOUNT }))
  const fault = answering('eth_blockNumber', (head: string) => `0x${(Number(head) + 90).toString(16)}`)
  for (const first of [merchant, chain.feeReceiver]) {
    const found = await read(hash, { fault, first })
    expect(found).toMatchObject({ depth: 1 })
    expect(found?.transfers[0]?.to_address).toBe(first)
  }
})
