import { gapsOf, payoutSpans, spansReached } from './payout-spans'

const at = (day: number) => new Date(Date.UTC(2026, 0, day))
const version = (merchantVersion: number, payoutAddress: string | null, day: number) => ({
  merchantId: 'm',
  merchantVersion,
  payoutAddress,
  ofNetworks: {},
  since: at(day),
})

describe('when a payout address was a merchant’s', () => {
  it('is from its version until the next that names another, in whatever order they came', () => {
    expect(payoutSpans([version(3, '0xb', 9), version(1, '0xa', 1), version(2, '0xa', 5)])).toEqual([
      { payoutAddress: '0xa', from: at(1), to: at(9) },
      { payoutAddress: '0xb', from: at(9), to: null },
    ])
  })

  it('begins with the whole second, for the time of a block has no parts of one, and ends with its part', () => {
    const [first, second] = [new Date(at(1).getTime() + 400), new Date(at(1).getTime() + 900)]
    expect(
      payoutSpans([
        { ...version(1, '0xa', 1), since: first },
        { ...version(2, '0xb', 1), since: second },
      ]),
    ).toEqual([
      { payoutAddress: '0xa', from: at(1), to: second },
      { payoutAddress: '0xb', from: at(1), to: null },
    ])
  })

  it('ends when it is taken away, and begins again when it is set again', () => {
    expect(payoutSpans([version(1, '0xa', 1), version(2, null, 3), version(3, '0xa', 7)])).toEqual([
      { payoutAddress: '0xa', from: at(1), to: at(3) },
      { payoutAddress: '0xa', from: at(7), to: null },
    ])
  })

  it('begins with the second in which it was named, and is one at a time', () => {
    const named = (merchantVersion: number, payoutAddress: string | null, ms: number) => ({
      ...version(merchantVersion, payoutAddress, 1),
      since: new Date(ms),
    })
    const spans = payoutSpans([named(1, '0xa', 5_100), named(2, null, 5_200), named(3, '0xa', 5_300), named(4, '0xb', 7_900)])
    expect(spans.map(({ payoutAddress, from, to }) => [payoutAddress, from.getTime(), to?.getTime()])).toEqual([
      ['0xa', 5_000, 5_200],
      ['0xa', 5_200, 7_900],
      ['0xb', 7_000, undefined],
    ])
  })
})

it('what is reached on a network are its addresses, and those of others that never were theirs there', () => {
  const versions = [
    { ...version(1, '0xa', 1), ofNetworks: { 2: '0xb', 3: '0xc' } },
    { ...version(2, '0xd', 5), ofNetworks: { 2: '0xa', 3: '0xc' } },
  ]
  const short = (chainId: number) => spansReached(versions, chainId).map(({ payoutAddress, from, to }) => [payoutAddress, from, to])
  const always = ['0xc', at(1), null]
  expect(short(2)).toEqual([['0xb', at(1), at(5)], ['0xa', at(5), null], ['0xd', at(5), null], always])
  expect(short(3)).toEqual([always, ['0xa', at(1), at(5)], ['0xd', at(5), null], ['0xb', at(1), at(5)]])
})

it('the times in which an address that never was one there was not, are all', () => {
  expect(gapsOf([], ['0xa'])).toEqual([{ payoutAddress: '0xa', from: null, to: null }])
})

it('the times in which an address was not a merchant’s are those before, between and after', () => {
  const spans = payoutSpans([version(1, '0xa', 1), version(2, '0xb', 3), version(3, '0xa', 7), version(4, null, 9)])
  expect(gapsOf(spans)).toEqual([
    { payoutAddress: '0xa', from: null, to: at(1) },
    { payoutAddress: '0xa', from: at(3), to: at(7) },
    { payoutAddress: '0xa', from: at(9), to: null },
    { payoutAddress: '0xb', from: null, to: at(3) },
    { payoutAddress: '0xb', from: at(7), to: null },
  ])
})
