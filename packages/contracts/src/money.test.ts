import fc from 'fast-check'
import {
  CENT,
  formatBrl,
  formatNullableUsdc,
  formatRate,
  formatUsdc,
  merchantShare,
  PAYMENT_TOLERANCE_MAX,
  parseBrl,
  parseNullableUsdc,
  parseRate,
  parseUsdc,
  roundingOf,
  splitFee,
  toleranceOf,
  usdcForBrl,
} from './money'

const gross = fc.bigInt({ min: 0n, max: 10n ** 18n })
const bps = fc.bigInt({ min: 0n, max: 10_000n })

describe('decimal strings', () => {
  it.each([
    ['150.00', 15_000n],
    ['150', 15_000n],
    ['0.5', 50n],
    ['9999999999.99', 999_999_999_999n],
  ])('reads BRL %s', (text, centavos) => expect(parseBrl(text)).toBe(centavos))

  it.each(['', '.5', '5.', '1,00', '-1', '1e3', ' 1', '1.001', '0x10', '١'])('refuses BRL %j', text => {
    expect(() => parseBrl(text)).toThrow(RangeError)
  })

  it('survives the round trip', () => {
    fc.assert(
      fc.property(gross, value => {
        expect(parseBrl(formatBrl(value))).toBe(value)
        expect(parseUsdc(formatUsdc(value))).toBe(value)
        expect(parseRate(formatRate(value))).toBe(value)
      }),
    )
  })
})

describe('the price in USDC', () => {
  it('is the example of the design', () => {
    const units = usdcForBrl(parseBrl('150.00'), parseRate('5.420000'))
    expect(formatUsdc(units)).toBe('27.675277')
    expect(splitFee(units, 100n)).toEqual({ fee: 276_752n, expected: 27_398_525n })
  })

  it('is never short and never a unit too much', () => {
    const centavos = fc.bigInt({ min: 1n, max: 10n ** 12n })
    const rate = fc.bigInt({ min: 1n, max: 10n ** 12n })
    fc.assert(
      fc.property(centavos, rate, (c, r) => {
        const units = usdcForBrl(c, r)
        const owed = c * 10n ** 10n
        expect(units * r).toBeGreaterThanOrEqual(owed)
        expect((units - 1n) * r).toBeLessThan(owed)
      }),
    )
  })

  it.each([
    [0n, 1n],
    [1n, 0n],
    [-1n, 1n],
  ])('refuses %s centavos at rate %s', (c, r) => expect(() => usdcForBrl(c, r)).toThrow(RangeError))
})

describe('the fee', () => {
  it('and the expected share are the gross amount, always', () => {
    fc.assert(
      fc.property(gross, bps, (g, b) => {
        const { fee, expected } = splitFee(g, b)
        expect(fee + expected).toBe(g)
        expect(fee * 10_000n).toBeLessThanOrEqual(g * b)
      }),
    )
  })
})

describe('the tolerance', () => {
  const LIMITS = { defaultUnits: CENT, maxUnits: PAYMENT_TOLERANCE_MAX }

  it('lets two decimals of 273.062731 pay it', () => {
    const owed = parseUsdc('273.062731')
    expect(owed - parseUsdc('273.06')).toBeLessThanOrEqual(roundingOf(owed))
  })

  it.each([
    [99n, 0n],
    [1_846n, 18n],
    [1_000_000n, 10_000n],
    [10n ** 12n, 10_000n],
  ])('of %s is %s where nothing was chosen', (owed, tolerance) => {
    expect(toleranceOf(owed, null, LIMITS)).toBe(tolerance)
    expect(roundingOf(owed)).toBe(tolerance)
  })

  it.each([
    ['the exact amount', '100', '0', '0'],
    ['as much as was chosen', '100', '1', '1'],
    ['a cent, also of a small order', '0.5', '0.01', '0.01'],
    ['at most a tenth', '9.999999', '1', '0.999999'],
    ['at most what the operator allows', '100', '7', '5'],
    ['at most what the operator allows, of any order', '1000000', '1000', '5'],
    ['nothing of less than ten units', '0.000009', '1', '0'],
  ])('%s: of %s, chosen %s, it is %s', (_, owed, chosen, tolerance) =>
    expect(toleranceOf(parseUsdc(owed), parseNullableUsdc(chosen), LIMITS)).toBe(parseUsdc(tolerance)),
  )

  it('of terms that a service of the release before sent is the default', () => {
    expect([parseNullableUsdc(undefined), parseNullableUsdc(null), formatNullableUsdc(null), formatNullableUsdc(1n)]).toEqual([
      ...[null, null, null],
      '0.000001',
    ])
  })

  it('covers what fee rounding takes from a payment in parts', () => {
    fc.assert(
      fc.property(gross, gross, bps, (a, b, feeBps) => {
        const parts = merchantShare(a, feeBps) + merchantShare(b, feeBps)
        expect(parts - merchantShare(a + b, feeBps)).toBeLessThanOrEqual(1n)
      }),
    )
  })
})
