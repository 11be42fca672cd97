import { ceilingBelow, gasLimitOf, priceAt, priceWithin, raised, shareOf, unitsOf } from './price'

const GWEI = 10n ** 9n

describe('the price of gas', () => {
  it('leaves room for the base fee to double, up to the ceiling', () => {
    expect(priceAt(10n, 3n, 100n)).toEqual({ max: 23n, tip: 3n })
    expect(priceAt(90n, 3n, 100n)).toEqual({ max: 100n, tip: 3n })
    expect(priceAt(0n, 300n, 100n)).toEqual({ max: 100n, tip: 100n })
  })
  it('is raised by a quarter, or to the market, and by nothing that a node would refuse', () => {
    expect(raised({ max: 100n, tip: 10n }, { max: 90n, tip: 5n }, 1_000n)).toEqual({ max: 126n, tip: 13n })
    expect(raised({ max: 100n, tip: 10n }, { max: 300n, tip: 50n }, 1_000n)).toEqual({ max: 300n, tip: 50n })
    expect(raised({ max: 100n, tip: 10n }, { max: 300n, tip: 50n }, 110n)).toEqual({ max: 110n, tip: 50n })
    expect(raised({ max: 100n, tip: 10n }, { max: 300n, tip: 50n }, 109n)).toBeUndefined()
  })
  it('at its ceiling can still be outbid by what replaces it', () => {
    const highest = 500n * GWEI
    const before = { max: ceilingBelow(highest), tip: ceilingBelow(highest) }
    expect(raised(before, priceAt(highest, 0n, highest), highest)?.max).toBe(highest)
  })
})

describe('gas', () => {
  it('is limited to the estimate with some room, and to the cap', () => {
    expect(gasLimitOf(100_000n, 250_000n)).toBe(140_000n)
    expect(gasLimitOf(240_000n, 250_000n)).toBe(250_000n)
  })
  it('costs token units by the price of the coin, rounded up', () => {
    const coin = 3_000_000_000n
    expect(unitsOf(120_000n * 2n * GWEI, coin)).toBe(720_000n)
    expect(unitsOf(1n, coin)).toBe(1n)
    expect(unitsOf(0n, coin)).toBe(0n)
  })
  it('within a part of what it moves may be offered this price, which costs no more', () => {
    const [gas, coin] = [140_000n, 3_000_000_000n]
    const most = shareOf(10_000_000n, 2_000)
    expect(most).toBe(2_000_000n)
    const price = priceWithin(gas, most, coin)
    expect(unitsOf(gas * price, coin)).toBeLessThanOrEqual(most)
    expect(unitsOf(gas * (price + 1n), coin)).toBeGreaterThan(most)
  })
})
