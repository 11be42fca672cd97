import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PAYMENT_RECEIVED_TOPIC, testUsdcAbi } from '@ponte/payment-router'
import { Contract, hexlify, randomBytes } from 'ethers'
import { type LocalChain, mined, startLocalChain, testAccounts } from '../src'

const balanceOf = ({ usdcAddress, provider }: LocalChain, account: string): Promise<bigint> =>
  new Contract(usdcAddress, testUsdcAbi, provider).getFunction('balanceOf').staticCall(account)

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain({ noMining: true })
})
afterAll(() => chain.stop())

describe('a local chain that mines on demand', () => {
  it('takes several payments of one payer into one block', async () => {
    const payer = chain.wallet(5)
    const payment = { memo: hexlify(randomBytes(32)), merchant: testAccounts[6].address, amount: 100n }
    await chain.mintUsdc(payer.address, 200n)
    const sent = [await chain.pay(payer, payment), await chain.pay(payer, payment)]
    await chain.mine()
    const receipts = await Promise.all(sent.map(mined))
    expect(new Set(receipts.map(({ blockNumber }) => blockNumber)).size).toBe(1)
    expect(receipts.flatMap(({ logs }) => logs).filter(({ topics }) => topics[0] === PAYMENT_RECEIVED_TOPIC)).toHaveLength(2)
  })

  it('forgets in a reorganisation what was in the blocks', async () => {
    const account = testAccounts[7].address
    const sent = await chain.mintUsdc(account, 5n)
    await chain.mine(3)
    const { number, hash } = (await chain.provider.getBlock('latest')) ?? {}
    expect(await balanceOf(chain, account)).toBe(5n)
    await chain.reorg(3)
    const replaced = await chain.provider.getBlock('latest')
    expect(replaced?.number).toBe(number)
    expect(replaced?.hash).not.toBe(hash)
    expect(await balanceOf(chain, account)).toBe(0n)
    expect(await chain.provider.getTransactionReceipt(sent.hash)).toBeNull()
  })

  it('lets a test set the time', async () => {
    const later = (await chain.now()) + 86_400
    await chain.setNextBlockTimestamp(later)
    await chain.mine()
    expect(await chain.now()).toBe(later)
  })

  it('knows ten accounts', () => {
    expect(() => chain.wallet(10)).toThrow(RangeError)
  })
})

describe('a local chain with a state file', () => {
  it('goes on with what an earlier start deployed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'local-chain-'))
    const stateFile = join(folder, 'chain.json')
    const first = await startLocalChain({ stateFile })
    const { usdcAddress, routerAddress, rateFeedAddress } = first
    await mined(first.mintUsdc(testAccounts[7].address, 5n))
    await first.stop()
    const second = await startLocalChain({ stateFile, deployed: { usdcAddress, routerAddress, rateFeedAddress } })
    expect([second.usdcAddress, second.routerAddress, second.rateFeedAddress]).toEqual([usdcAddress, routerAddress, rateFeedAddress])
    expect(await balanceOf(second, testAccounts[7].address)).toBe(5n)
    await second.stop()
    await rm(folder, { recursive: true })
  })
})
