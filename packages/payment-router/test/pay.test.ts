import { randomBytes } from 'node:crypto'
import { hexlify, Interface } from 'ethers'
import { PAYMENT_RECEIVED_TOPIC, paymentRouterAbi } from '../src'
import { type LocalChain, mined, startLocalChain, testAccounts } from '../src/testing'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

describe('pay', () => {
  it('works', async () => {
    const payer = chain.wallet(5)
    await chain.mintUsdc(payer.address, 1_000_000n)
    const memo = hexlify(randomBytes(32))
    const receipt = await mined(chain.pay(payer, { memo, merchant: testAccounts[6].address, amount: 1_000_000n }))
    const log = receipt.logs.find(l => l.topics[0] === PAYMENT_RECEIVED_TOPIC)
    expect(log && new Interface(paymentRouterAbi).parseLog(log)?.args.toArray()).toEqual([
      memo,
      testAccounts[6].address,
      payer.address,
      990_000n,
      10_000n,
    ])
    console.log(receipt.gasUsed)
  })
})
