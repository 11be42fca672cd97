import fc from 'fast-check'
import { reaisFrom, usdcFrom } from './reais'

test.each([
  ['pt', '12,345', null],
  ['pt', '1.234', '1234.00'],
  ['pt', '1.234,5', '1234.50'],
  ['pt', '12.345.678,90', '12345678.90'],
  ['pt', '1500.50', '1500.50'],
  ['pt', '1,500.50', '1500.50'],
  ['pt', '1.5', '1.50'],
  ['pt', 'R$ 150', '150.00'],
  ['pt', '1.23.456', null],
  ['en', '12,345', '12345.00'],
  ['en', '1.234', null],
  ['en', '1.250,00', '1250.00'],
  ['en', '49,90', '49.90'],
  ['en', '0150.00', '150.00'],
  ['en', '10000000000', null],
  ['en', '0.00', null],
  ['en', '-5', null],
  ['en', '5.', null],
  ['en', '', null],
  ['en', '1e3', null],
] as const)('to a reader of %s, %s is %s', (language, text, amount) => {
  expect(reaisFrom(text, language)).toBe(amount)
})

test('an amount that a page writes is read back as the same, in both languages', () => {
  const grouped = (whole: bigint, group: string) => String(whole).replace(/\B(?=(\d{3})+$)/g, group)
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 9_999_999_999_99n }), centavos => {
      const cents = String(centavos % 100n).padStart(2, '0')
      const wire = `${centavos / 100n}.${cents}`
      expect(reaisFrom(`R$\u00a0${grouped(centavos / 100n, '.')},${cents}`, 'pt')).toBe(wire)
      expect(reaisFrom(`R$\u00a0${grouped(centavos / 100n, ',')}.${cents}`, 'en')).toBe(wire)
    }),
  )
})

test.each([
  ['pt', '27,675277', '27.675277'],
  ['pt', '27.675277 USDC', '27.675277'],
  ['pt', '1.234', '1234.00'],
  ['pt', '12,345', '12.345'],
  ['en', '12,345', '12345.00'],
  ['en', '12,3456', '12.3456'],
  ['pt', '0.125', '0.125'],
  ['en', '0,125', '0.125'],
  ['pt', '0.500,25', null],
  ['en', '5', '5.00'],
  ['en', '1.2345678', null],
  ['en', '0', null],
] as const)('USDC to a reader of %s, %s is %s', (language, text, amount) => {
  expect(usdcFrom(text, language)).toBe(amount)
})
