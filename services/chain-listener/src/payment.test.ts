import { become, ContradictionError, include, includeAgain, type TimedPayment, unseen } from './payment'

const seen = (fields: Partial<TimedPayment> = {}): TimedPayment => ({
  kind: 'router',
  router: `0x${'01'.repeat(20)}`,
  memo: 'c0'.repeat(32),
  merchant: `0x${'02'.repeat(20)}`,
  payer: `0x${'03'.repeat(20)}`,
  amount: 100n,
  fee: 1n,
  deposit: null,
  txHash: `0x${'a1'.repeat(32)}`,
  logIndex: 4,
  blockNumber: 10,
  blockHash: `0x${'b1'.repeat(32)}`,
  blockTime: 1_700_000_000,
  ...fields,
})
const other = { blockHash: `0x${'b2'.repeat(32)}` }

describe('what blocks show', () => {
  it('is confirmed up to the line, and detected above', () => {
    expect(include([seen(), seen({ blockNumber: 11, ...other })], 10).map(({ state }) => state)).toEqual(['confirmed', 'detected'])
  })

  it('is a row of its own wherever it stands: nothing that was seen before decides its name', () => {
    const [first] = include([seen()], 0)
    const [again] = include([seen(other)], 0)
    expect([first?.blockHash, again?.blockHash]).toEqual([seen().blockHash, other.blockHash])
  })
})

describe('what is read once more', () => {
  const known = include([seen()], 0)

  it('changes nothing where it is known, and confirms what has become deep', () => {
    expect(includeAgain([seen()], known, 0)).toEqual([])
    expect(includeAgain([seen()], known, 10)).toEqual(become(known, 'confirmed'))
    expect(includeAgain([seen()], become(known, 'confirmed'), 0)).toEqual([])
  })

  it('adds what was missing', () => {
    const missing = seen({ logIndex: 5 })
    expect(includeAgain([seen(), missing], known, 0)).toEqual(include([missing], 0))
  })

  it('contradicts our chain with other terms of a log, or with a transaction in another block', () => {
    for (const lie of [
      { amount: 101n },
      { fee: 2n },
      { memo: 'c1'.repeat(32) },
      { payer: seen().merchant },
      { kind: 'sweep' as const },
      other,
    ])
      expect(() => includeAgain([seen(lie)], known, 0)).toThrow(ContradictionError)
  })
})

it('a transfer that was shown once, and that nodes do not agree on below the line, is part of the chain no more', () => {
  const deposit = `0x${'04'.repeat(20)}`
  const known = include([seen({ kind: 'transfer', deposit })], 0)
  expect(unseen(known, [], [deposit], 10)).toEqual(known)
  expect(unseen(known, [seen({ kind: 'transfer', deposit })], [deposit], 10)).toEqual([])
  expect(unseen(known, [], [deposit], 9)).toEqual([])
  expect(unseen(known, [], [`0x${'05'.repeat(20)}`], 10)).toEqual([])
  expect(unseen(become(known, 'confirmed'), [], [deposit], 10)).toEqual([])
})

it('rows become orphaned, and what they were stays as it was', () => {
  const known = include([seen()], 10)
  expect(become(known, 'orphaned')).toEqual([{ ...known[0], state: 'orphaned' }])
  expect(known[0]?.state).toBe('confirmed')
})
