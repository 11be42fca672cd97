import { payoutSpans } from './payout-spans'

const at = (day: number) => new Date(Date.UTC(2026, 0, day))
const version = (merchantVersion: number, payoutAddress: string | null, day: number) => ({
  merchantId: 'm',
  merchantVersion,
  payoutAddress,
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
})
