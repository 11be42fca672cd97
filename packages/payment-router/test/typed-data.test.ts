import { type LocalChain, startLocalChain, testAccounts } from '@ponte/local-servers'
import { Contract, TypedDataEncoder, ZeroHash } from 'ethers'
import { permitTypedData, receiveWithAuthorizationTypedData, testUsdcAbi } from '../src'
import { read } from './observe'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 84_532 })
})
afterAll(() => chain.stop())

describe('typed data', () => {
  it('is in the domain of the token, whose name and version are those of USDC', async () => {
    const usdc = new Contract(chain.usdcAddress, testUsdcAbi, chain.provider)
    const [owner, spender] = [testAccounts[0].address, chain.routerAddress]
    const token = { chainId: chain.chainId, usdcAddress: chain.usdcAddress }
    const permit = permitTypedData({ ...token, owner, spender, value: 1n, nonce: 0n, deadline: 1n })
    expect([permit.domain.name, permit.domain.version]).toEqual([await read(usdc, 'name'), await read(usdc, 'version')])
    expect(TypedDataEncoder.hashDomain(permit.domain)).toBe(await read(usdc, 'DOMAIN_SEPARATOR'))
  })

  it('names its primary type and may name another token', () => {
    const terms = {
      router: chain.routerAddress,
      memo: '1'.repeat(64),
      merchant: testAccounts[1].address,
      payer: testAccounts[2].address,
      salt: ZeroHash,
    }
    const token = { chainId: 1n, usdcAddress: chain.usdcAddress, name: 'USDC', version: '3' }
    const { domain, types, primaryType, message } = receiveWithAuthorizationTypedData({ ...terms, ...token, amount: 5n, validBefore: 9n })
    expect(TypedDataEncoder.from(types).primaryType).toBe(primaryType)
    expect(domain).toMatchObject({ name: 'USDC', version: '3', chainId: 1n })
    expect(message).toMatchObject({ from: terms.payer, to: terms.router, value: 5n, validAfter: 0n, validBefore: 9n })
  })
})
