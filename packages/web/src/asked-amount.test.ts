import { parseUsdc } from '@ponte/contracts'
import fc from 'fast-check'
import { askedUsdc, shortDecimal } from './asked-amount'

test.each([
  ['27.675277', '27.680000', '27.68'],
  ['27.680000', '27.680000', '27.68'],
  ['1.000001', '1.010000', '1.01'],
  // A hundredth of so little is less than what rounding adds.
  ['0.184502', '0.184502', '0.184502'],
  ['0.009000', '0.009000', '0.009'],
])('%s is asked for as %s', (exact, asked, copied) => {
  expect(askedUsdc(exact)).toBe(asked)
  expect(shortDecimal(asked)).toBe(copied)
})

test('what is left of a larger order is rounded by what that order tolerates', () => {
  expect(askedUsdc('0.184502', '27.675277')).toBe('0.190000')
})

test('it is never less than what is due, and never more than a cent above', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), units => {
      const text = `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`
      const more = parseUsdc(askedUsdc(text)) - units
      expect(more >= 0n && more < 10_000n && more * 100n <= units).toBe(true)
    }),
  )
})
