import { type Facts, judge, type RouterFact, type Terms, type TransferFact } from './oracle'

// The judge is held against cases worked out by hand.

const DEPOSIT = `0x${'d'.repeat(40)}`
const terms: Terms = {
  ...{ usdcUnits: 27_675_277n, toleranceUnits: 10_000n, feeBps: 100n, expiresAt: 1_000, depositAddress: DEPOSIT, cancelled: false },
}
const transfer = (time: number, amount: bigint, more: Partial<TransferFact> = {}): TransferFact => ({
  from: '0xa',
  amount,
  txHash: `0xt${time}`,
  block: time,
  logIndex: 0,
  time,
  ...more,
})
const router = (time: number, amount: bigint, payer = '0xb'): RouterFact => ({
  payer,
  amount,
  txHash: `0xr${time}`,
  block: time,
  logIndex: 1,
  time,
})
const facts = (time: number, transfers: TransferFact[], routerPayments: RouterFact[] = []): Facts => ({
  transfers,
  routerPayments,
  confirmedBlock: time,
  confirmedTime: time,
})

describe('the oracle of orders', () => {
  it('two decimals of an exchange pay the order: 27.67 of 27.675277', () => {
    expect(judge(terms, facts(500, [transfer(400, 27_670_000n)]))).toMatchObject({ statuses: ['paid'], exception: null, txHash: '0xt400' })
  })
  it('a sweep after a stranger’s dust changes neither time nor hash', () => {
    const swept = judge(terms, facts(2_000, [transfer(400, 27_675_277n), transfer(1_500, 1n)], [router(1_600, 27_675_278n, DEPOSIT)]))
    expect(swept).toMatchObject({ statuses: ['paid'], exception: null, txHash: '0xt400', mustHear: ['order.paid'] })
    expect(swept.payments.map(({ settledBy }) => settledBy)).toEqual(['0xr1600', '0xr1600'])
  })
  it('dust in time and the rest after expiry is late, however it is swept', () => {
    const late = judge(
      terms,
      facts(9_000, [transfer(400, 1n), transfer(8_000, 27_675_277n)], [router(500, 1n, DEPOSIT), router(8_000, 27_675_277n, DEPOSIT)]),
    )
    expect(late).toMatchObject({ statuses: ['expired'], exception: 'paid_late', mustHear: ['order.expired'] })
  })
  it('router and transfer add up, and nothing is swept yet', () => {
    const both = judge(terms, facts(700, [transfer(600, 675_277n)], [router(500, 27_000_000n)]))
    expect(both).toMatchObject({ statuses: ['paid'], txHash: '0xt600', received: 27_398_525n })
    expect(both.payments.map(({ settlement }) => settlement)).toEqual(['settled', 'pending'])
  })
  it('what comes after the completing block is a duplicate when it is enough once more, else too much', () => {
    expect(judge(terms, facts(900, [transfer(400, 27_675_277n), transfer(500, 27_675_277n)])).exception).toBe('duplicate')
    expect(judge(terms, facts(900, [transfer(400, 27_675_277n), transfer(400, 27_675_277n, { logIndex: 3 })])).exception).toBe('overpaid')
    expect(judge(terms, facts(900, [transfer(400, 27_675_277n), transfer(500, 9_000n)])).exception).toBeNull()
  })
  it('a cancelled order with dust alone has no exception', () => {
    const cancelled = { ...terms, cancelled: true }
    expect(judge(cancelled, facts(900, [transfer(400, 9_999n)])).exception).toBeNull()
    expect(judge(cancelled, facts(900, [transfer(400, 10_000n)])).exception).toBe('paid_after_cancel')
  })
  it('what the merchant accepted is paid with the transaction that it rests on, whatever was missing', () => {
    const [short, cancelled] = [
      { ...terms, accepted: '0xt400' },
      { ...terms, cancelled: true, accepted: '0xt400' },
    ]
    expect(judge(short, facts(2_000, [transfer(400, 20_000_000n), transfer(1_500, 1_000_000n)]))).toMatchObject({
      ...{ statuses: ['paid'], exception: null, txHash: '0xt400', givenAway: 6_675_277n, mustHear: ['order.paid'] },
    })
    expect(judge(cancelled, facts(2_000, [transfer(400, 40_000_000n)]))).toMatchObject({
      ...{ statuses: ['paid'], exception: 'overpaid', givenAway: 0n, mustHear: ['order.paid', 'order.cancelled'] },
    })
  })
  it('short within a tolerance of its own is paid, and given away in the books, unless it is rounding; too much is too much', () => {
    const forgiving = { ...terms, toleranceUnits: 1_000_000n }
    const of = (units: bigint) => judge(forgiving, facts(500, [transfer(400, units)]))
    expect(of(26_675_277n)).toMatchObject({ statuses: ['paid'], exception: null, givenAway: null, booked: 1_000_000n })
    expect(of(26_675_276n)).toMatchObject({ statuses: ['underpaid'], booked: 0n })
    expect(of(27_665_277n)).toMatchObject({ statuses: ['paid'], booked: 0n })
    expect(of(28_000_000n)).toMatchObject({ statuses: ['paid'], exception: 'overpaid', booked: 0n })
    expect(judge({ ...terms, accepted: '0xt400' }, facts(500, [transfer(400, 27_675_276n)]))).toMatchObject({ givenAway: 1n, booked: 1n })
  })
  it('short: what is still coming decides between underpaid and pending', () => {
    const open = (block: number) => judge(terms, { ...facts(500, [transfer(400, 5_000_000n), transfer(block, 5_000_000n)]) }).statuses
    expect(open(450)).toEqual(['underpaid'])
    expect(open(600)).toEqual(['underpaid', 'pending'])
  })
})

describe('the oracle of an order of two chains', () => {
  const [one, other] = [{ chainId: 1 }, { chainId: 2 }]
  const read = (time: number, otherTime: number, transfers: TransferFact[], routerPayments: RouterFact[] = []): Facts => ({
    ...facts(time, transfers, routerPayments),
    others: [{ ...other, confirmedBlock: otherTime, confirmedTime: otherTime }],
  })
  const [half, rest] = [13_000_000n, 14_675_277n]

  it('adds up what comes on both, and is confirmed on each by its own blocks', () => {
    const halves = [transfer(400, half, one), transfer(300, rest, other)]
    expect(judge(terms, read(500, 500, halves))).toMatchObject({ statuses: ['paid'], txHash: '0xt400', exception: null })
    expect(judge(terms, read(500, 299, halves)).statuses).toEqual(['confirming'])
    expect(judge(terms, read(500, 500, [transfer(400, half + rest, one), transfer(400, half + rest, other)]))).toMatchObject({
      statuses: ['paid'],
      exception: 'duplicate',
    })
  })
  it('expires once both are past its end, and no sooner', () => {
    expect(judge(terms, read(9_000, 1_000, []))).toMatchObject({ statuses: ['pending'], mustHear: [], mustNotHear: expect.anything() })
    expect(judge(terms, read(9_000, 1_000, [])).mustNotHear).toContain('order.expired')
    expect(judge(terms, read(9_000, 1_001, [])).statuses).toEqual(['expired'])
    const late = [transfer(2_000, half + rest, one)]
    expect(judge(terms, read(9_000, 900, late))).toMatchObject({ statuses: ['confirming'], exception: null })
    expect(judge(terms, read(9_000, 1_001, late))).toMatchObject({ statuses: ['expired'], exception: 'paid_late' })
    expect(judge(terms, read(9_000, 900, [...late, transfer(800, half + rest, other)]))).toMatchObject({
      statuses: ['paid'],
      txHash: '0xt800',
    })
  })
  it('is paid by what completed it when it was first known, whichever chain was confirmed sooner', () => {
    const mined = [transfer(300, rest, other), transfer(400, half, one), transfer(500, rest, one)]
    const { txHash, paidBy } = judge(terms, read(900, 900, mined))
    expect([txHash, [...new Set(paidBy)].sort()]).toEqual(['0xt400', ['0xt400', '0xt500']])
  })
  it('settles transfers by sweeps of their own chain', () => {
    const halves = [transfer(400, half, one), transfer(300, rest, other)]
    const swept = judge(terms, read(900, 900, halves, [{ ...router(600, half, DEPOSIT), ...one }]))
    expect(swept.payments.map(({ chainId, settlement }) => [chainId, settlement])).toEqual([
      [2, 'pending'],
      [1, 'settled'],
    ])
  })
})
