import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { Signature, type Wallet } from 'ethers'
import { permitTypedData } from '../src'
import { balances, payments, printGas, randomAddress, randomMemo, read, refusal, routerOf, send, usdcOf } from './observe'

const AMOUNT = 1_000_000n

let chain: LocalChain
let payer: Wallet
let stranger: Wallet
beforeAll(async () => {
  chain = await startLocalChain()
  payer = chain.wallet(5)
  stranger = chain.wallet(6)
  await mined(chain.mintUsdc(payer.address, 1_000_000_000n))
})
afterAll(() => chain.stop())
afterEach(() => send(usdcOf(chain, payer), 'approve', chain.routerAddress, 0n))

async function signPermit(terms: { value?: bigint; deadline?: bigint; signer?: Wallet } = {}): Promise<[bigint, number, string, string]> {
  const deadline = terms.deadline ?? BigInt(await chain.now()) + 600n
  const nonce = await read<bigint>(usdcOf(chain, payer), 'nonces', payer.address)
  const { domain, types, message } = permitTypedData({
    chainId: chain.chainId,
    usdcAddress: chain.usdcAddress,
    owner: payer.address,
    spender: chain.routerAddress,
    value: terms.value ?? AMOUNT,
    nonce,
    deadline,
  })
  const { v, r, s } = Signature.from(await (terms.signer ?? payer).signTypedData(domain, types, message))
  return [deadline, v, r, s]
}

describe('payWithPermit', () => {
  it('approves and pays in one transaction', async () => {
    const [memo, merchant] = [randomMemo(), randomAddress()]
    const receipt = await send(routerOf(chain, payer), 'payWithPermit', memo, merchant, AMOUNT, ...(await signPermit()))
    expect(payments(receipt)).toEqual([[memo, merchant, payer.address, 990_000n, 10_000n]])
    expect(await balances(chain, merchant, chain.routerAddress)).toEqual([990_000n, 0n])
    const again = await send(routerOf(chain, payer), 'payWithPermit', memo, merchant, AMOUNT, ...(await signPermit()))
    printGas('payWithPermit', again)
  })

  it('pays although a stranger submitted the permit first', async () => {
    const [memo, merchant, permit] = [randomMemo(), randomAddress(), await signPermit()]
    await send(usdcOf(chain, stranger), 'permit', payer.address, chain.routerAddress, AMOUNT, ...permit)
    const receipt = await send(routerOf(chain, payer), 'payWithPermit', memo, merchant, AMOUNT, ...permit)
    expect(payments(receipt)).toHaveLength(1)
  })

  it('gives a stranger who saw the permit nothing to spend', async () => {
    const permit = await signPermit()
    await send(usdcOf(chain, stranger), 'permit', payer.address, chain.routerAddress, AMOUNT, ...permit)
    const reason = await refusal(routerOf(chain, stranger), 'payWithPermit', randomMemo(), stranger.address, AMOUNT, ...permit)
    expect(reason.slice(0, 3)).toEqual(['ERC20InsufficientAllowance', chain.routerAddress, 0n])
  })

  it('refuses the same permit again', async () => {
    const permit = await signPermit()
    await send(routerOf(chain, payer), 'payWithPermit', randomMemo(), randomAddress(), AMOUNT, ...permit)
    const reason = await refusal(routerOf(chain, payer), 'payWithPermit', randomMemo(), randomAddress(), AMOUNT, ...permit)
    expect(reason[0]).toBe('ERC20InsufficientAllowance')
  })

  it.each([
    ['an expired permit', () => signPermit({ deadline: 1n })],
    ['a permit signed by another', () => signPermit({ signer: stranger })],
    ['a permit for another amount', () => signPermit({ value: AMOUNT - 1n })],
  ])('refuses %s', async (_, sign) => {
    const reason = await refusal(routerOf(chain, payer), 'payWithPermit', randomMemo(), randomAddress(), AMOUNT, ...(await sign()))
    expect(reason[0]).toBe('ERC20InsufficientAllowance')
  })
})
