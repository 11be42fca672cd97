import { formatUsdc, parseUsdc, roundingOf } from '@ponte/contracts'
import fc from 'fast-check'
import { isInCents, withdrawalOf } from './withdrawal'

test.each([
  ['27.675277', '0.00', '27.68'],
  ['27.675277', '1.00', '28.68'],
  ['27.675277', '0.123456', '27.80'],
  // A hundredth of so little is less than what rounding adds.
  ['0.184502', '0.50', '0.684502'],
])('%s with a fee of %s is %s', (due, fee, typed) => {
  expect(withdrawalOf(due, due, fee)).toBe(typed)
})

test('less the fee, what arrives pays the order, and is too much by no more than rounding', () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 12n })
  fc.assert(
    fc.property(units, units, units, (due, received, fee) => {
      const [asked, of] = [due + 1n, due + 1n + received]
      const typed = withdrawalOf(formatUsdc(asked), formatUsdc(of), formatUsdc(fee))
      const surplus = parseUsdc(typed) - fee - asked
      expect(surplus >= 0n && surplus <= roundingOf(of)).toBe(true)
      if (roundingOf(of) === 10_000n) expect(isInCents(typed)).toBe(true)
    }),
  )
})
