import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { parseEther, type Wallet, ZeroAddress, ZeroHash } from 'ethers'
import { depositAddress, testUsdcAbi } from '../src'
import { testUsdcBytecode } from '../src/artifacts/test-usdc'
import { nativeTokenAbi, nativeTokenBytecode } from './artifacts/native-token'
import {
  balances,
  deployArtifact,
  deployRouterFor,
  emitted,
  newDeposit,
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
let anyone: Wallet
let otherToken: string
beforeAll(async () => {
  chain = await startLocalChain()
  anyone = chain.wallet(6)
  otherToken = await deployArtifact(chain, { abi: testUsdcAbi, bytecode: testUsdcBytecode })
})
afterAll(() => chain.stop())

describe('rescue', () => {
  it('sends a token, the payment token or native coin that was sent to the router to the fee receiver, at anyone’s request', async () => {
    const router = routerOf(chain, anyone)
    const before = await chain.provider.getBalance(chain.feeReceiver)
    for (const token of [otherToken, chain.usdcAddress]) {
      const [usdc, held] = [usdcOf(chain, anyone, token), await read<bigint>(usdcOf(chain, anyone, token), 'balanceOf', chain.feeReceiver)]
      await send(usdc, 'mint', chain.routerAddress, 70n)
      const receipt = await send(router, 'rescue', token)
      expect(await read(usdc, 'balanceOf', chain.feeReceiver)).toBe(held + 70n)
      expect(emitted(receipt, 'Rescued')).toEqual([[token, 70n]])
    }
    // No transfer of native coin is accepted; it can be there all the same, as a block's reward.
    await chain.provider.send('anvil_setBalance', [chain.routerAddress, '0x7'])
    expect(emitted(await send(router, 'rescue', ZeroAddress), 'Rescued')).toEqual([[ZeroAddress, 7n]])
    expect(await chain.provider.getBalance(chain.feeReceiver)).toBe(before + 7n)
    for (const asset of [otherToken, chain.usdcAddress, ZeroAddress]) expect(await refusal(router, 'rescue', asset)).toEqual(['ZeroAmount'])
  })

  it('cannot touch a payment: strays neither pay for one nor are taken by one', async () => {
    const payer = chain.wallet(5)
    await mined(chain.mintUsdc(payer.address, 1_000n))
    await mined(chain.mintUsdc(chain.routerAddress, 70n))
    const [memo, merchant] = [randomMemo(), randomAddress()]
    await mined(chain.pay(payer, { memo, merchant, amount: 1_000n }))
    expect(await balances(chain, merchant, chain.routerAddress)).toEqual([990n, 70n])
    await send(routerOf(chain, anyone), 'rescue', chain.usdcAddress)
    expect(await balances(chain, merchant, chain.routerAddress)).toEqual([990n, 0n])
  })
})

describe('recover', () => {
  it('sends another token to the merchant, before and after the address was deployed, at anyone’s request', async () => {
    const { memo, merchant, address } = newDeposit(chain)
    const other = usdcOf(chain, anyone, otherToken)
    for (const total of [70n, 140n]) {
      await send(other, 'mint', address, 70n)
      const receipt = await send(routerOf(chain, anyone), 'recover', memo, merchant, otherToken)
      expect(await read(other, 'balanceOf', merchant)).toBe(total)
      expect(emitted(receipt, 'Recovered')).toEqual([[memo, merchant, otherToken, 70n]])
      printGas(`recover another token${total === 70n ? ', deploying' : ''}`, receipt)
    }
  })

  it('sends native coin that arrived before the address was deployed to the merchant', async () => {
    const { memo, merchant, address } = newDeposit(chain)
    await mined(anyone.sendTransaction({ to: address, value: parseEther('1') }))
    const receipt = await send(routerOf(chain, anyone), 'recover', memo, merchant, ZeroAddress)
    expect(await chain.provider.getBalance(merchant)).toBe(parseEther('1'))
    expect(emitted(receipt, 'Recovered')).toEqual([[memo, merchant, ZeroAddress, parseEther('1')]])
  })

  it('never needs to once the address is deployed: it refuses native coin', async () => {
    const { memo, merchant, address } = newDeposit(chain)
    await mined(chain.mintUsdc(address, 100n))
    await mined(chain.sweep(anyone, { memo, merchant }))
    await expect(anyone.sendTransaction({ to: address, value: 1n })).rejects.toThrow()
  })

  it('leaves the payment token to sweep, which takes the fee and names whose payment it was', async () => {
    const { memo, merchant, address } = newDeposit(chain)
    await mined(chain.mintUsdc(address, 100n))
    expect(await refusal(routerOf(chain, anyone), 'recover', memo, merchant, chain.usdcAddress)).toEqual([
      'NotRecoverable',
      chain.usdcAddress,
    ])
  })

  it('never takes the payment token, also where that is the native coin', async () => {
    const token = await deployArtifact(chain, { abi: nativeTokenAbi, bytecode: nativeTokenBytecode })
    const router = await deployRouterFor(chain, { usdcAddress: token })
    const [memo, merchant] = [randomMemo(), randomAddress()]
    const address = depositAddress({ router, memo, merchant })
    await mined(anyone.sendTransaction({ to: address, value: parseEther('1') }))
    for (const asset of [token, ZeroAddress])
      expect(await refusal(routerOf(chain, anyone, router), 'recover', memo, merchant, asset)).toEqual(['NotRecoverable', asset])
  })

  it('refuses where there is nothing, and a zero memo', async () => {
    const { memo, merchant } = newDeposit(chain)
    const router = routerOf(chain, anyone)
    for (const asset of [otherToken, ZeroAddress]) expect(await refusal(router, 'recover', memo, merchant, asset)).toEqual(['ZeroAmount'])
    expect(await refusal(router, 'recover', ZeroHash, merchant, otherToken)).toEqual(['ZeroMemo'])
  })

  it('cannot be pointed at another merchant', async () => {
    const { memo, address } = newDeposit(chain)
    await send(usdcOf(chain, anyone, otherToken), 'mint', address, 70n)
    expect(await refusal(routerOf(chain, anyone), 'recover', memo, anyone.address, otherToken)).toEqual(['ZeroAmount'])
  })

  it('keeps native coin safe from a merchant that cannot take it', async () => {
    const { memo, address } = newDeposit(chain, otherToken)
    await mined(anyone.sendTransaction({ to: address, value: 5n }))
    await expect(refusal(routerOf(chain, anyone), 'recover', memo, otherToken, ZeroAddress)).resolves.not.toEqual([])
    expect(await chain.provider.getBalance(address)).toBe(5n)
  })
})
