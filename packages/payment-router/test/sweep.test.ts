import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { Contract, type Wallet, ZeroHash } from 'ethers'
import { depositAddress, depositAddressAbi } from '../src'
import {
  balances,
  type Deposit,
  deployRouterFor,
  deployUnrulyToken,
  newDeposit,
  payments,
  printGas,
  randomAddress,
  randomMemo,
  read,
  refusal,
  routerOf,
  send,
  usdcOf,
} from './observe'

let chain: LocalChain
let payer: Wallet
let anyone: Wallet
beforeAll(async () => {
  chain = await startLocalChain()
  payer = chain.wallet(5)
  anyone = chain.wallet(6)
  await mined(chain.mintUsdc(payer.address, 1_000_000_000n))
})
afterAll(() => chain.stop())

/** A plain transfer, by someone who knows nothing of the router. */
async function paidDeposit(amount: bigint, merchant?: string): Promise<Deposit> {
  const deposit = newDeposit(chain, merchant)
  await mined(chain.transferUsdc(payer, deposit.address, amount))
  return deposit
}

interface SimulatedLog {
  address: string
  data: string
}

/** Calls the router without sending; answers the logs, or undefined when the call fails. */
async function simulate(gasLimit: number, method: string, ...values: unknown[]): Promise<SimulatedLog[] | undefined> {
  const data = routerOf(chain, anyone).interface.encodeFunctionData(method, values)
  const call = { from: anyone.address, to: chain.routerAddress, data, gas: `0x${gasLimit.toString(16)}` }
  const [block] = await chain.provider.send('eth_simulateV1', [{ blockStateCalls: [{ calls: [call] }] }, 'latest'])
  const { status, logs } = block.calls[0]
  return status === '0x1' ? logs : undefined
}

describe('sweep', () => {
  it('deploys and pays in one call, whichever account makes it', async () => {
    const { memo, merchant, address } = await paidDeposit(1_000_000n)
    const receipt = await mined(chain.sweep(anyone, { memo, merchant }))
    expect(payments(receipt)).toEqual([[memo, merchant, address, 990_000n, 10_000n]])
    expect(await balances(chain, merchant, address, chain.routerAddress)).toEqual([990_000n, 0n, 0n])
    printGas('sweep, deploying, merchant without USDC before', receipt)
    const next = await paidDeposit(1_000_000n, merchant)
    printGas('sweep, deploying', await mined(chain.sweep(anyone, next)))
  })

  it('pays again whatever arrives later at the same address', async () => {
    const { memo, merchant, address } = await paidDeposit(1_000_000n)
    await mined(chain.sweep(anyone, { memo, merchant }))
    for (const amount of [2_000_000n, 50n]) {
      await mined(chain.transferUsdc(payer, address, amount))
      const receipt = await mined(chain.sweep(anyone, { memo, merchant }))
      expect(payments(receipt)).toEqual([[memo, merchant, address, amount - amount / 100n, amount / 100n]])
      if (amount > 50n) printGas('sweep, again', receipt)
    }
    expect(await balances(chain, merchant, address)).toEqual([990_000n + 1_980_000n + 50n, 0n])
  })

  it('counts several transfers as one payment', async () => {
    const { memo, merchant, address } = await paidDeposit(700n)
    await mined(chain.transferUsdc(payer, address, 300n))
    expect(payments(await mined(chain.sweep(anyone, { memo, merchant })))).toEqual([[memo, merchant, address, 990n, 10n]])
  })

  it('has nothing to pay from an empty address, and from one that was just emptied', async () => {
    const router = routerOf(chain, anyone)
    const { memo, merchant } = newDeposit(chain)
    expect(await refusal(router, 'sweep', memo, merchant)).toEqual(['ZeroAmount'])
    const paid = await paidDeposit(5n)
    await mined(chain.sweep(anyone, paid))
    expect(await refusal(router, 'sweep', paid.memo, paid.merchant)).toEqual(['ZeroAmount'])
  })

  it('refuses a zero memo', async () => {
    expect(await refusal(routerOf(chain, anyone), 'sweep', ZeroHash, anyone.address)).toEqual(['ZeroMemo'])
  })

  it('leaves behind a contract that obeys the router alone', async () => {
    const { memo, merchant, address } = await paidDeposit(1_000n)
    await mined(chain.sweep(anyone, { memo, merchant }))
    const deposit = new Contract(address, depositAddressAbi, anyone)
    expect(await read(deposit, 'router')).toBe(chain.routerAddress)
    const refused = ['NotRouter', anyone.address]
    expect(await refusal(deposit, 'release', chain.usdcAddress, anyone.address, 1n, anyone.address, 1n)).toEqual(refused)
    expect(await refusal(deposit, 'recover', chain.usdcAddress, anyone.address)).toEqual(refused)
  })

  it('waits with the money while the token blocks the merchant', async () => {
    const { memo, merchant, address } = await paidDeposit(1_000n)
    await send(usdcOf(chain, anyone), 'setBlacklisted', merchant, true)
    expect(await refusal(routerOf(chain, anyone), 'sweep', memo, merchant)).toEqual(['Blacklistable: account is blacklisted'])
    await send(usdcOf(chain, anyone), 'setBlacklisted', merchant, false)
    await mined(chain.sweep(anyone, { memo, merchant }))
    expect(await balances(chain, merchant, address)).toEqual([990n, 0n])
  })

  it('gives the merchant the fee too while the token blocks the fee receiver, because the money cannot go back', async () => {
    const { memo, merchant, address } = await paidDeposit(1_000n)
    await send(usdcOf(chain, anyone), 'setBlacklisted', chain.feeReceiver, true)
    const receipt = await mined(chain.sweep(anyone, { memo, merchant }))
    await send(usdcOf(chain, anyone), 'setBlacklisted', chain.feeReceiver, false)
    expect(payments(receipt)).toEqual([[memo, merchant, address, 1_000n, 0n]])
  })

  it('cannot be robbed of its fee by a caller who gives it too little gas', async () => {
    const { memo, merchant } = await paidDeposit(1_000_000n)
    const limits = Array.from({ length: 80 }, (_, step) => 60_000 + step * 2_500)
    const outcomes = await Promise.all(limits.map(limit => simulate(limit, 'sweep', memo, merchant)))
    const fees = new Set(outcomes.map(logs => logs && BigInt(`0x${logs.at(-1)?.data.slice(66)}`)))
    expect(fees).toEqual(new Set([undefined, 10_000n]))
  })

  it('refuses a token whose transfers arrive short', async () => {
    const token = await deployUnrulyToken(chain, 100)
    const router = await deployRouterFor(chain, { usdcAddress: await token.getAddress() })
    const [memo, merchant] = [randomMemo(), randomAddress()]
    await send(token, 'mint', depositAddress({ router, memo, merchant }), 10_000n)
    expect(await refusal(routerOf(chain, anyone, router), 'sweep', memo, merchant)).toEqual(['ShortTransfer', 9_900n, 9_801n])
  })
})

describe('sweepMany', () => {
  it('pays each, and lets an empty or a blocked one stop no other', async () => {
    const blocked = await paidDeposit(1_000n)
    await send(usdcOf(chain, anyone), 'setBlacklisted', blocked.merchant, true)
    const deposits = [await paidDeposit(1_000n), newDeposit(chain), blocked, await paidDeposit(2_000n)]
    const list = deposits.map(({ memo, merchant }) => ({ memo, merchant }))
    const router = routerOf(chain, anyone)
    expect([...(await read<bigint[]>(router, 'sweepMany', list))]).toEqual([1_000n, 0n, 0n, 2_000n])
    const receipt = await send(router, 'sweepMany', list)
    expect(payments(receipt).map(([, , from]) => from)).toEqual([deposits[0]?.address, deposits[3]?.address])
    await send(usdcOf(chain, anyone), 'setBlacklisted', blocked.merchant, false)
  })

  it('sweeps all or fails as a whole when it is given too little gas', async () => {
    const merchant = randomAddress()
    const list = [await paidDeposit(1_000n, merchant), await paidDeposit(1_000n, merchant)].map(({ memo }) => ({ memo, merchant }))
    const limits = Array.from({ length: 80 }, (_, step) => 80_000 + step * 5_000)
    const outcomes = await Promise.all(limits.map(limit => simulate(limit, 'sweepMany', list)))
    const router = chain.routerAddress.toLowerCase()
    const counts = new Set(outcomes.map(logs => logs?.filter(log => log.address === router).length))
    expect(counts).toEqual(new Set([undefined, 2]))
  })

  it('shares the cost of a transaction', async () => {
    const merchant = randomAddress()
    const list: { memo: string; merchant: string }[] = []
    for (let count = 0; count < 10; count += 1) list.push(await paidDeposit(1_000n, merchant))
    const receipt = await send(routerOf(chain, anyone), 'sweepMany', list)
    expect(payments(receipt)).toHaveLength(10)
    printGas('sweepMany of ten, deploying', receipt)
  })
})
