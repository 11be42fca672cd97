import { ApiError, type ErrorCode } from '@ponte/contracts'
import { chosenChains, judgePayoutAddress, offersFor } from './network'

function refuse(code: ErrorCode): never {
  throw new ApiError(code, 'It is refused.')
}

const PAYOUT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ACCOUNT = { merchantAddress: PAYOUT, merchantAddresses: {} }

/** True, false, or null where no node answers. */
const network = (chainId: number, isContract: boolean | null) => ({
  ...{ chainId, tokenAddress: PAYOUT, routerAddress: PAYOUT, depositAddress: () => null },
  deployment: { name: 'deployment', requireVerified: () => undefined },
  payoutAddresses: { require: async () => ({ isContract }), refusalOf: async () => null },
})

describe('a network beside the first', () => {
  it.each([
    // On the first, there, whether it is open: offered, and whether a sweep there waits for the code of the payout address.
    [false, false, true, true, false],
    [false, true, true, true, true],
    [true, true, true, true, true],
    [true, false, true, false, true],
    [true, null, true, false, true],
    [false, null, true, false, false],
    [false, false, false, false, false],
    [true, true, false, false, true],
    [null, false, true, false, true],
    [null, null, true, false, true],
    [null, false, false, false, true],
  ])('with a contract there %s %s, open %s', async (here, there, isOpen, isOffered, merchantIsContract) => {
    const [, other] = await offersFor(ACCOUNT, [network(1, here), network(2, there)], id => id === 1 || isOpen)
    expect(other).toMatchObject({ isOffered, merchantIsContract })
  })
})

describe('the first network, closed', () => {
  const chains = async (first: boolean | null, ...others: (boolean | null)[]) =>
    (
      await offersFor(ACCOUNT, [network(1, first), ...others.map((isContract, index) => network(index + 2, isContract))], id => id !== 1)
    ).map(({ chainId, isOffered, merchantIsContract }) => [chainId, isOffered, merchantIsContract])

  it('gives its place to one that is offered, and stands behind', async () => {
    expect(await chains(false, false)).toEqual([
      [2, true, false],
      [1, false, false],
    ])
    // A contract wallet, whose code stands on the third alone.
    expect(await chains(true, false, true)).toEqual([
      [3, true, true],
      [2, false, true],
      [1, false, true],
    ])
  })
  it('that cannot be asked leaves those where the code of a contract wallet stands', async () => {
    expect(await chains(null, false, true)).toMatchObject([
      [3, true, true],
      [2, false, true],
      [1, false, true],
    ])
    const unverified = { name: 'deployment', requireVerified: () => void refuse('service_unavailable') }
    const offers = await offersFor(ACCOUNT, [{ ...network(1, false), deployment: unverified }, network(2, true)], id => id !== 1)
    expect(offers).toMatchObject([{ chainId: 2 }, { chainId: 1, isOffered: false }])
  })
  it.each([[], [false], [null]])('opens nothing where %j is left for a contract wallet', async (...others) => {
    await expect(chains(true, ...others)).rejects.toThrow('takes new orders')
  })
})

describe('a network for which the merchant named another address', () => {
  const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
  const known = (chainId: number, isContract: boolean | null) => ({
    ...network(chainId, false),
    payoutAddresses: { require: async (address: string) => ({ isContract: address === OTHER && isContract }), refusalOf: async () => null },
  })
  it.each([
    // On the first, there and on a third: offered, and whether a sweep there waits for code.
    [false, false, false, true, false],
    [false, true, false, true, true],
    [true, false, false, false, false],
    [false, false, true, false, false],
    [false, false, null, true, false],
    [null, false, false, false, false],
    [null, true, null, true, true],
    [false, null, false, false, false],
  ])('with a contract at it %s %s %s', async (here, there, beyond, isOffered, merchantIsContract) => {
    const payout = { merchantAddress: PAYOUT, merchantAddresses: { 2: OTHER } }
    const [first, other, third] = await offersFor(payout, [known(1, here), known(2, there), known(3, beyond)], () => true)
    // Where it is not offered, what payers see is the address that the order has on its first network.
    expect(other).toMatchObject({ isOffered, merchantAddress: isOffered ? OTHER : PAYOUT, merchantIsContract })
    expect([first, third]).toMatchObject(Array(2).fill({ isOffered: true, merchantAddress: PAYOUT, merchantIsContract: false }))
  })
  it('is watched on all networks while an order leads with it', async () => {
    const payout = { merchantAddress: PAYOUT, merchantAddresses: { 2: OTHER } }
    const offers = await offersFor(payout, [known(1, false), known(2, true), known(3, true)], id => id === 2)
    expect(
      offers.map(({ chainId, isOffered, merchantAddress, merchantIsContract }) => [
        chainId,
        isOffered,
        merchantAddress,
        merchantIsContract,
      ]),
    ).toEqual([
      [2, true, OTHER, true],
      [3, false, OTHER, true],
      [1, false, OTHER, true],
    ])
  })
})

describe('a payout address that is named for a network', () => {
  const judge = (here: boolean | null, there: boolean | null, chainId?: number) => {
    const [first, second] = [network(1, here), network(2, there)].map(one => ({ ...one, network: `net-${one.chainId}` }))
    if (!first || !second) throw new Error('There are two.')
    return judgePayoutAddress([first, second], PAYOUT, chainId)
  }
  it.each([
    [false, false, false],
    [false, true, true],
    [true, true, true],
    [null, true, true],
    [false, null, null],
    [null, false, null],
  ])('is, with a contract there on the first %s and on it %s, one: %s', async (here, there, isContract) => {
    expect(await judge(here, there, 2)).toBe(isContract)
    expect(await judge(here, there)).toBe(here)
  })

  it('is refused as a contract without code on it, and on another network than one beside the first', async () => {
    await expect(judge(true, false, 2)).rejects.toMatchObject({
      code: 'payout_address_refused',
      message: expect.stringContaining('no code on net-2'),
    })
    for (const chainId of [1, 3]) await expect(judge(false, false, chainId)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('networks of a new order', () => {
  it.each([
    // Followed, the merchant's, the order's own, and those that it is offered on.
    [[1, 2, 3], null, null, [1, 2, 3]],
    [[1, 2, 3], [1, 3], null, [1, 3]],
    [[1, 2, 3], null, [1, 2], [1, 2]],
    [
      [1, 2, 3],
      [1, 3],
      [3, 1],
      [3, 1],
    ],
    // One that is followed no more, and one that became the first.
    [[1, 2], [1, 9], null, [1]],
    [[2, 1], [1, 9], null, [2, 1]],
  ] as const)('of %j, by a merchant that chose %j, for an order that names %j, are %j', (followed, ofMerchant, ofOrder, chosen) => {
    expect(chosenChains([...followed], ofMerchant, ofOrder)).toEqual(chosen)
  })
  it.each([
    [[1, 2], 'must be of the networks here: 1, 3'],
    [[3], 'must name 1, on which every order may be paid'],
  ])('are not %j where the merchant chose the first and the third: %s', (ofOrder, message) => {
    expect(() => chosenChains([1, 2, 3], [1, 3], ofOrder)).toThrow(message)
  })
})
