import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { parseEther, type Wallet, ZeroAddress, ZeroHash } from 'ethers'
import { depositAddress, testUsdcAbi } from '../src'
import { testUsdcBytecode } from '../src/artifacts/test-usdc'
import { deployArtifact, printGas, randomAddress, randomMemo, read, refusal, routerOf, send, usdcOf } from './observe'

let chain: LocalChain
let anyone: Wallet
let otherToken: string
beforeAll(async () => {
  chain = await startLocalChain()
  anyone = chain.wallet(6)
  otherToken = await deployArtifact(chain, { abi: testUsdcAbi, bytecode: testUsdcBytecode })
})
afterAll(() => chain.stop())

function newDeposit(merchant = randomAddress()): { memo: string; merchant: string; address: string } {
  const memo = randomMemo()
  return { memo, merchant, address: depositAddress({ router: chain.routerAddress, memo, merchant }) }
}

describe('recover', () => {
  it('sends another token to the merchant, before and after the address was deployed, whoever asks', async () => {
    const { memo, merchant, address } = newDeposit()
    const other = usdcOf(chain, anyone, otherToken)
    for (const total of [70n, 140n]) {
      await send(other, 'mint', address, 70n)
      const receipt = await send(routerOf(chain, anyone), 'recover', memo, merchant, otherToken)
      expect(await read(other, 'balanceOf', merchant)).toBe(total)
      printGas(`recover another token${total === 70n ? ', deploying' : ''}`, receipt)
    }
  })

  it('sends native coin that arrived before the address was deployed to the merchant', async () => {
    const { memo, merchant, address } = newDeposit()
    await mined(anyone.sendTransaction({ to: address, value: parseEther('1') }))
    await send(routerOf(chain, anyone), 'recover', memo, merchant, ZeroAddress)
    expect(await chain.provider.getBalance(merchant)).toBe(parseEther('1'))
  })

  it('never needs to once the address is deployed: it refuses native coin', async () => {
    const { memo, merchant, address } = newDeposit()
    await mined(chain.mintUsdc(address, 100n))
    await mined(chain.sweep(anyone, { memo, merchant }))
    await expect(anyone.sendTransaction({ to: address, value: 1n })).rejects.toThrow()
  })

  it('leaves the payment token to sweep, which takes the fee and says whose payment it was', async () => {
    const { memo, merchant, address } = newDeposit()
    await mined(chain.mintUsdc(address, 100n))
    expect(await refusal(routerOf(chain, anyone), 'recover', memo, merchant, chain.usdcAddress)).toEqual([
      'NotRecoverable',
      chain.usdcAddress,
    ])
  })

  it('refuses where there is nothing, and a zero memo', async () => {
    const { memo, merchant } = newDeposit()
    const router = routerOf(chain, anyone)
    for (const asset of [otherToken, ZeroAddress]) expect(await refusal(router, 'recover', memo, merchant, asset)).toEqual(['ZeroAmount'])
    expect(await refusal(router, 'recover', ZeroHash, merchant, otherToken)).toEqual(['ZeroMemo'])
  })

  it('cannot be pointed at another merchant', async () => {
    const { memo, address } = newDeposit()
    await send(usdcOf(chain, anyone, otherToken), 'mint', address, 70n)
    expect(await refusal(routerOf(chain, anyone), 'recover', memo, anyone.address, otherToken)).toEqual(['ZeroAmount'])
  })

  it('keeps native coin safe from a merchant that cannot take it', async () => {
    const { memo, address } = newDeposit(otherToken)
    await mined(anyone.sendTransaction({ to: address, value: 5n }))
    await expect(refusal(routerOf(chain, anyone), 'recover', memo, otherToken, ZeroAddress)).resolves.not.toEqual([])
    expect(await chain.provider.getBalance(address)).toBe(5n)
  })
})
