import type { Payment } from '../payment'
import { compare } from './compare'

const recorded: Payment = {
  ...{ txHash: '0xt', logIndex: 3, blockNumber: 7, blockHash: '0xb', blockTime: 1, ordinal: 0, revision: 2, state: 'confirmed' },
  ...{ router: '0xr', memo: 'aa', merchant: '0xm', payer: '0xp', share: 99n, fee: 1n, deposit: null },
}
const kinds = (onChain: Payment[], books: Payment[]) => compare(onChain, books).map(({ kind }) => kind)

describe('the chain against the books', () => {
  it('agrees when each payment of the chain is recorded once, confirmed and to the unit', () => {
    expect(compare([recorded], [recorded])).toEqual([])
    expect(compare([], [])).toEqual([])
  })

  it('names a payment that the books have lost, and one that the chain never had', () => {
    expect(kinds([recorded], [])).toEqual(['missing'])
    expect(kinds([], [recorded])).toEqual(['unfounded'])
  })

  it.each([
    ['share', { share: 98n }],
    ['fee', { fee: 2n }],
    ['merchant', { merchant: '0xq' }],
    ['memo', { memo: 'bb' }],
  ])('names another %s', (term, other) => {
    expect(compare([recorded], [{ ...recorded, ...other }])).toMatchObject([
      { kind: 'changed', detail: expect.stringContaining(`${term} is`) },
    ])
  })

  it('names a payment that is deep enough and was never confirmed', () => {
    expect(kinds([recorded], [{ ...recorded, state: 'detected' }])).toEqual(['unconfirmed'])
  })

  it('takes the same transaction in another block for another place', () => {
    expect(kinds([recorded], [{ ...recorded, blockHash: '0xother' }])).toEqual(['missing', 'unfounded'])
  })
})
