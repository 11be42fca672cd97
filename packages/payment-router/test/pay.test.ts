import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { type Contract, parseEther, type Wallet, ZeroAddress, ZeroHash } from 'ethers'
import { depositAddress, depositImplementation } from '../src'
import {
  balances,
  deployRouterFor,
  deployUnrulyToken,
  payments,
  printGas,
  randomAddress,
  randomMemo,
  refusal,
  routerOf,
  send,
  usdcOf,
} from './observe'

let chain: LocalChain
let payer: Wallet
beforeAll(async () => {
  chain = await startLocalChain()
  payer = chain.wallet(5)
  await mined(chain.mintUsdc(payer.address, 1_000_000_000n))
  await send(usdcOf(chain, payer), 'approve', chain.routerAddress, 1_000_000_000n)
})
afterAll(() => chain.stop())

describe('pay', () => {
  it('splits the amount, names whose memo it was, and keeps nothing', async () => {
    const [memo, merchant] = [randomMemo(), randomAddress()]
    const [feeBefore = 0n] = await balances(chain, chain.feeReceiver)
    const receipt = await mined(chain.pay(payer, { memo, merchant, amount: 27_675_277n }))
    expect(payments(receipt)).toEqual([[memo, merchant, payer.address, 27_398_525n, 276_752n]])
    expect(receipt.logs.filter(log => log.address === chain.routerAddress)).toHaveLength(1)
    expect(await balances(chain, merchant, chain.feeReceiver, chain.routerAddress)).toEqual([27_398_525n, feeBefore + 276_752n, 0n])
    printGas('pay, merchant without USDC before', receipt)
    printGas('pay', await mined(chain.pay(payer, { memo, merchant, amount: 1_000_000n })))
  })

  it('pays a fee rounded down to nothing', async () => {
    const [memo, merchant] = [randomMemo(), randomAddress()]
    expect(payments(await mined(chain.pay(payer, { memo, merchant, amount: 99n })))).toEqual([[memo, merchant, payer.address, 99n, 0n]])
  })

  it('marks nothing as paid: no one can block a memo by paying it first', async () => {
    const [memo, merchant, stranger] = [randomMemo(), randomAddress(), randomAddress()]
    for (const to of [stranger, merchant, merchant]) await mined(chain.pay(payer, { memo, merchant: to, amount: 100n }))
    expect(await balances(chain, stranger, merchant)).toEqual([99n, 198n])
  })

  it('lets a merchant pay itself, and the fee receiver be the merchant', async () => {
    const before = await balances(chain, payer.address, chain.feeReceiver)
    await mined(chain.pay(payer, { memo: randomMemo(), merchant: payer.address, amount: 1_000n }))
    await mined(chain.pay(payer, { memo: randomMemo(), merchant: chain.feeReceiver, amount: 1_000n }))
    expect(await balances(chain, payer.address, chain.feeReceiver)).toEqual([(before[0] ?? 0n) - 1_010n, (before[1] ?? 0n) + 1_010n])
  })

  it.each([
    ['a zero memo', { memo: ZeroHash }, ['ZeroMemo']],
    ['a zero amount', { amount: 0n }, ['ZeroAmount']],
    ['a zero merchant', { merchant: ZeroAddress }, ['InvalidMerchant', ZeroAddress]],
  ])('refuses %s', async (_, terms, expected) => {
    const { memo, merchant, amount } = { memo: randomMemo(), merchant: randomAddress(), amount: 1n, ...terms }
    expect(await refusal(routerOf(chain, payer), 'pay', memo, merchant, amount)).toEqual(expected)
  })

  it.each([
    ['itself', () => chain.routerAddress],
    ['the token', () => chain.usdcAddress],
    ['what deposit addresses are clones of', () => depositImplementation(chain.routerAddress)],
  ])('refuses %s as a merchant, because the money could not leave again', async (_, merchantOf) => {
    const merchant = merchantOf()
    const router = routerOf(chain, payer)
    for (const [method, ...values] of [['pay', 1n], ['sweep'], ['recover', ZeroAddress]])
      expect(await refusal(router, String(method), randomMemo(), merchant, ...values)).toEqual(['InvalidMerchant', merchant])
  })

  it('refuses a deposit address as a merchant, because the fee would be paid twice', async () => {
    const [memo, merchant] = [randomMemo(), randomAddress()]
    const deposit = depositAddress({ router: chain.routerAddress, memo, merchant })
    await mined(chain.transferUsdc(payer, deposit, 100n))
    await mined(chain.sweep(payer, { memo, merchant }))
    expect(await refusal(routerOf(chain, payer), 'pay', randomMemo(), deposit, 1n)).toEqual(['InvalidMerchant', deposit])
    // Money that reached the deposit address of one goes on, because it cannot go back.
    const onward = randomMemo()
    await mined(chain.transferUsdc(payer, depositAddress({ router: chain.routerAddress, memo: onward, merchant: deposit }), 1_000n))
    await mined(chain.sweep(payer, { memo: onward, merchant: deposit }))
    await mined(chain.sweep(payer, { memo, merchant }))
    expect(await balances(chain, merchant, deposit)).toEqual([99n + 981n, 0n])
  })

  it('refuses native coin', async () => {
    await expect(payer.sendTransaction({ to: chain.routerAddress, value: parseEther('1') })).rejects.toThrow()
  })

  it('takes from no one but its caller', async () => {
    const stranger = chain.wallet(6)
    const reason = await refusal(routerOf(chain, stranger), 'pay', randomMemo(), stranger.address, 1n)
    expect(reason).toEqual(['ERC20InsufficientAllowance', chain.routerAddress, 0n, 1n])
  })

  it.each(['payer', 'merchant', 'feeReceiver', 'router'])('fails as a whole while the token blocks the %s', async who => {
    const merchant = randomAddress()
    const account = { payer: payer.address, merchant, feeReceiver: chain.feeReceiver, router: chain.routerAddress }[who]
    await send(usdcOf(chain, payer), 'setBlacklisted', account, true)
    const reason = await refusal(routerOf(chain, payer), 'pay', randomMemo(), merchant, 1_000n)
    await send(usdcOf(chain, payer), 'setBlacklisted', account, false)
    expect(reason).toEqual(['Blacklistable: account is blacklisted'])
  })
})

describe('pay in another token', () => {
  async function routerFor(token: Contract): Promise<Contract> {
    const address = await deployRouterFor(chain, { usdcAddress: await token.getAddress() })
    await send(token, 'mint', payer.address, 1_000_000n)
    await send(usdcOf(chain, payer, await token.getAddress()), 'approve', address, 1_000_000n)
    return routerOf(chain, payer, address)
  }

  it('refuses a transfer that arrives short', async () => {
    const router = await routerFor(await deployUnrulyToken(chain, 100))
    expect(await refusal(router, 'pay', randomMemo(), randomAddress(), 10_000n)).toEqual(['ShortTransfer', 9_900n, 9_801n])
  })

  it('refuses to be entered again in the middle of a payment', async () => {
    const token = await deployUnrulyToken(chain, 0)
    const router = await routerFor(token)
    const calls = [
      ['pay', randomMemo(), payer.address, 1n],
      ['sweep', randomMemo(), payer.address],
      ['recover', randomMemo(), payer.address, ZeroAddress],
      ['rescue', await token.getAddress()],
    ]
    for (const [method, ...values] of calls) {
      const inner = router.interface.encodeFunctionData(String(method), values)
      await send(token, 'callBack', await router.getAddress(), inner)
      expect(await refusal(router, 'pay', randomMemo(), randomAddress(), 10_000n)).toEqual(['ReentrancyGuardReentrantCall'])
    }
  })
})

describe('a new router', () => {
  it.each([
    ['a fee above 10 %', { feeBps: 1_001 }],
    ['a zero fee receiver', { feeReceiver: ZeroAddress }],
    ['a token that is no contract', { usdcAddress: randomAddress() }],
  ])('refuses %s', async (_, wrong) => {
    await expect(deployRouterFor(chain, wrong)).rejects.toMatchObject({ code: 'CALL_EXCEPTION' })
  })

  it('refuses the token as fee receiver', async () => {
    await expect(deployRouterFor(chain, { feeReceiver: chain.usdcAddress })).rejects.toMatchObject({ code: 'CALL_EXCEPTION' })
  })

  it('may take no fee at all', async () => {
    const router = await deployRouterFor(chain, { feeBps: 0 })
    const [memo, merchant] = [randomMemo(), randomAddress()]
    await send(usdcOf(chain, payer), 'approve', router, 500n)
    const receipt = await send(routerOf(chain, payer, router), 'pay', memo, merchant, 500n)
    expect(payments(receipt)).toEqual([[memo, merchant, payer.address, 500n, 0n]])
  })
})
