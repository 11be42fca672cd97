import type { Payment } from '../payment'
import { compare, compareBalances } from './compare'

const recorded: Payment = {
  ...{ txHash: '0xt', logIndex: 3, blockNumber: 7, blockHash: '0xb', blockTime: 1, ordinal: 0, revision: 2, state: 'confirmed' },
  ...{ kind: 'router', router: '0xr', memo: 'aa', merchant: '0xm', payer: '0xp', amount: 100n, fee: null, deposit: null },
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
    ['amount', { amount: 98n }],
    ['kind', { kind: 'transfer' as const }],
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

describe('a deposit address against its rows', () => {
  const ledger = { orderId: 'o', memo: 'aa', address: '0xd', transferredUnits: 7n, sweptUnits: 3n }

  it('agrees when what came is what was swept and what lies there', () => {
    expect(compareBalances([ledger], [4n], 9)).toEqual([])
  })

  it.each([0n, 3n, 5n])('differs when it holds %s', balance => {
    expect(compareBalances([ledger], [balance], 9)).toMatchObject([{ kind: 'balance', blockNumber: 9, memo: 'aa' }])
  })
})
