import { quorumOf } from './quorum'
import { digest, tally } from './tally'

describe('the quorum', () => {
  it('is a majority, of two both, and never more than there are', () => {
    expect([1, 2, 3, 4, 5].map(urls => quorumOf(urls, undefined))).toEqual([1, 2, 2, 3, 3])
    expect(quorumOf(2, 5)).toBe(2)
    expect(quorumOf(5, 1)).toBe(1)
  })

  it('is reached by equal answers only', () => {
    expect(tally(['a', 'b', 'a'], 2)).toBe('a')
    expect(tally(['a', 'b', 'c'], 2)).toBeUndefined()
    expect(tally([], 1)).toBeUndefined()
  })
})

describe('the digest of a span', () => {
  const payment = {
    kind: 'router' as const,
    router: '0x01',
    memo: 'aa',
    merchant: '0x02',
    payer: '0x03',
    amount: 6n,
    fee: 1n,
    deposit: null,
    txHash: '0x04',
    logIndex: 1,
    blockNumber: 7,
    blockHash: '0x05',
    blockTime: 1,
  }

  it('does not depend on the order, and on everything else, times included', () => {
    const last = { hash: '0xh', time: 1 }
    const other = { ...payment, logIndex: 2 }
    expect(digest(last, [payment, other])).toBe(digest(last, [other, payment]))
    for (const changed of [
      { amount: 7n },
      { fee: 2n },
      { memo: 'ab' },
      { merchant: '0x09' },
      { blockHash: '0x06' },
      { txHash: '0x07' },
      { logIndex: 3 },
      { blockTime: 2 },
    ])
      expect(digest(last, [{ ...payment, ...changed }])).not.toBe(digest(last, [payment]))
    expect(digest(last, [])).not.toBe(digest({ ...last, hash: '0xg' }, []))
    expect(digest(last, [])).not.toBe(digest({ ...last, time: 2 }, []))
    expect(digest(last, [])).not.toBe(digest(last, [payment]))
  })
})
