import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import fc from 'fast-check'
import { splitFee } from '../src'
import { deployRouterFor, read, routerOf } from './observe'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

const amounts = fc.bigInt({ min: 0n, max: 2n ** 200n })

describe('splitFee', () => {
  it.each([0, 1, 33, 1_000])('divides as the router does at %i basis points', async feeBps => {
    const router = routerOf(chain, chain.wallet(0), await deployRouterFor(chain, { feeBps }))
    await fc.assert(
      fc.asyncProperty(amounts, async amount => {
        const { share, fee } = splitFee(amount, feeBps)
        expect([...(await read<bigint[]>(router, 'split', amount))]).toEqual([share, fee])
      }),
      { numRuns: 20 },
    )
  })

  it('loses nothing and never takes more than its part', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 10_000 }), (amount, feeBps) => {
        const { share, fee } = splitFee(amount, feeBps)
        expect(share + fee).toBe(amount)
        expect(fee * 10_000n).toBeLessThanOrEqual(amount * BigInt(feeBps))
        expect((fee + 1n) * 10_000n).toBeGreaterThan(amount * BigInt(feeBps))
      }),
    )
  })

  it.each([
    [-1n, 100],
    [1n, -1],
    [1n, 10_001],
    [1n, 0.5],
  ])('refuses to split %s at %s basis points', (amount, feeBps) => {
    expect(() => splitFee(amount, feeBps)).toThrow(RangeError)
  })
})
