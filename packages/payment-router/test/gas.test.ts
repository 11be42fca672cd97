import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { Signature, type TransactionReceipt, toBeHex, type Wallet } from 'ethers'
import { depositAddress, permitTypedData, receiveWithAuthorizationTypedData } from '../src'
import { testProxyAbi, testProxyBytecode } from './artifacts/test-proxy'
import { deployArtifact, deployRouterFor, randomAddress, randomMemo, routerOf, send, usdcOf } from './observe'

const AMOUNT = 1_000_000n
const FOREVER = 2n ** 64n

let chain: LocalChain
let payer: Wallet
let usdcAddress: string
let router: string
/** Holds the token already. */
let merchant: string
beforeAll(async () => {
  chain = await startLocalChain()
  payer = chain.wallet(5)
  usdcAddress = await deployArtifact(chain, { abi: testProxyAbi, bytecode: testProxyBytecode }, chain.usdcAddress, randomAddress())
  router = await deployRouterFor(chain, { usdcAddress })
  merchant = randomAddress()
  for (const account of [payer.address, merchant, chain.feeReceiver]) await send(usdc(), 'mint', account, 1_000n * AMOUNT)
  await send(usdc(), 'approve', router, 100n * AMOUNT)
})
afterAll(() => chain.stop())

const usdc = () => usdcOf(chain, payer, usdcAddress)
const call = (method: string, ...values: unknown[]) => send(routerOf(chain, payer, router), method, ...values)
const of = () => ({ chainId: chain.chainId, usdcAddress, router })

async function deposited(to: { memo: string; merchant: string }): Promise<void> {
  await mined(
    usdc()
      .getFunction('transfer')
      .send(depositAddress({ router, ...to }), AMOUNT),
  )
}

async function swept(to: { memo: string; merchant: string }): Promise<TransactionReceipt> {
  await deposited(to)
  return call('sweep', to.memo, to.merchant)
}

async function sweptTogether(count: number): Promise<TransactionReceipt> {
  const list = Array.from({ length: count }, () => ({ memo: randomMemo(), merchant }))
  for (const each of list) await deposited(each)
  return call('sweepMany', list)
}

async function permitted(): Promise<TransactionReceipt> {
  const nonce = await usdc().getFunction('nonces').staticCall(payer.address)
  const typed = permitTypedData({ ...of(), owner: payer.address, spender: router, value: AMOUNT, nonce, deadline: FOREVER })
  const { v, r, s } = Signature.from(await payer.signTypedData(typed.domain, typed.types, typed.message))
  return call('payWithPermit', randomMemo(), merchant, AMOUNT, FOREVER, v, r, s)
}

async function authorized(): Promise<TransactionReceipt> {
  const terms = { memo: randomMemo(), merchant, payer: payer.address, amount: AMOUNT, validBefore: FOREVER, salt: toBeHex(AMOUNT, 32) }
  const { domain, types, message } = receiveWithAuthorizationTypedData({ ...of(), ...terms })
  const signature = await payer.signTypedData(domain, types, message)
  const relayed = routerOf(chain, chain.wallet(6), router)
  return send(relayed, 'payWithAuthorization', terms.memo, merchant, AMOUNT, payer.address, 0n, FOREVER, terms.salt, signature)
}

/** Another token, which stands behind no proxy, and which the receiver holds already. */
const stray = (to: string) => send(usdcOf(chain, payer), 'mint', to, AMOUNT)

async function recovered(): Promise<TransactionReceipt> {
  const memo = randomMemo()
  await stray(merchant)
  await stray(depositAddress({ router, memo, merchant }))
  return call('recover', memo, merchant, chain.usdcAddress)
}

async function rescued(): Promise<TransactionReceipt> {
  await stray(chain.feeReceiver)
  await stray(router)
  return call('rescue', chain.usdcAddress)
}

/** README.md has these figures. Calldata with more or fewer zeros moves them by a few dozen. */
it.each<[string, number, () => Promise<TransactionReceipt>]>([
  ['pay', 81_885, () => call('pay', randomMemo(), merchant, AMOUNT)],
  ['pay, merchant without USDC before', 98_985, () => call('pay', randomMemo(), randomAddress(), AMOUNT)],
  ['payWithPermit', 109_801, permitted],
  ['payWithAuthorization, paid by the relayer', 119_700, authorized],
  ['sweep, first money at an address', 115_150, () => swept({ memo: randomMemo(), merchant })],
  ['sweep, first money, merchant without USDC before', 132_238, () => swept({ memo: randomMemo(), merchant: randomAddress() })],
  [
    'sweep, later money',
    73_278,
    async () => (await swept({ memo: toBeHex(7, 32), merchant })) && swept({ memo: toBeHex(7, 32), merchant }),
  ],
  ['sweepMany of ten new addresses', 728_033, () => sweptTogether(10)],
  ['sweepMany of twenty new addresses', 1_406_773, () => sweptTogether(20)],
  ['recover of another token, at a new address', 104_002, recovered],
  ['rescue of another token', 42_384, rescued],
])('gas of %s', async (path, gas, work) => {
  const { gasUsed } = await work()
  process.stdout.write(`gas  ${path.padEnd(62)} ${gasUsed}\n`)
  expect(Math.abs(Number(gasUsed) - gas)).toBeLessThan(gas / 100)
})
