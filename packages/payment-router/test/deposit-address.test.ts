import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { getAddress, hexlify, Wallet } from 'ethers'
import fc from 'fast-check'
import { authorizationNonce, depositAddress, depositImplementation } from '../src'
import { read, routerOf } from './observe'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

const bytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .filter(value => value.some(byte => byte !== 0))
    .map(value => hexlify(value))

describe('a deposit address', () => {
  it('is the same in TypeScript as on the chain', async () => {
    const router = routerOf(chain, chain.wallet(0))
    await fc.assert(
      fc.asyncProperty(bytes(32), bytes(20), bytes(32), async (memo, merchant, salt) => {
        const [address, nonce] = await Promise.all([
          read<string>(router, 'depositAddress', memo, merchant),
          read<string>(router, 'authorizationNonce', memo, merchant, salt),
        ])
        expect(depositAddress({ router: chain.routerAddress, memo, merchant })).toBe(address)
        expect(authorizationNonce(memo, merchant, salt)).toBe(nonce)
      }),
      { numRuns: 60 },
    )
  })

  it('needs nothing but the router, whose implementation follows from its own address', async () => {
    expect(depositImplementation(chain.routerAddress)).toBe(await read(routerOf(chain, chain.wallet(0)), 'depositImplementation'))
  })

  it('does not depend on how memo and addresses are spelt', () => {
    fc.assert(
      fc.property(bytes(20), bytes(32), bytes(20), (router, memo, merchant) => {
        const address = depositAddress({ router, memo, merchant })
        expect(getAddress(address)).toBe(address)
        const spelt = { router: getAddress(router), memo: memo.slice(2).toUpperCase(), merchant: getAddress(merchant) }
        expect(depositAddress(spelt)).toBe(address)
      }),
      { numRuns: 30 },
    )
  })

  it.each([
    ['a short memo', { memo: '0x12' }],
    ['a zero memo', { memo: '0'.repeat(64) }],
    ['a memo that is not hex', { memo: 'g'.repeat(64) }],
    ['a zero merchant', { merchant: `0x${'0'.repeat(40)}` }],
    ['a merchant with a wrong checksum', { merchant: '0xF39fd6e51aad88F6F4ce6aB8827279cffFb92266' }],
    ['a router that is no address', { router: '0x1234' }],
  ])('is refused for %s', (_, wrong) => {
    const right = { router: chain.routerAddress, memo: '1'.repeat(64), merchant: Wallet.createRandom().address }
    expect(() => depositAddress({ ...right, ...wrong })).toThrow(TypeError)
  })
})
