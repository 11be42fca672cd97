import fc from 'fast-check'
import { faultOfFiscalKey, groupedFiscalKey, nfeCheckDigit, normalizeFiscalKey } from './fiscal-key'
import { WEIGHT_MAX, withCheckDigits } from './tax-id'

const charactersOf = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map(list => list.join(''))
const digits = (length: number) => charactersOf('0123456789', length)
const cnpj = charactersOf('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', 12).map(base => withCheckDigits(base, WEIGHT_MAX.cnpj))
const nfe = fc
  .tuple(digits(6), cnpj, fc.constantFrom('55', '65'), digits(21))
  .map(parts => parts.join(''))
  .map(base => `${base}${nfeCheckDigit(base)}`)
const nfse = fc.tuple(digits(9), cnpj, digits(27)).map(parts => parts.join(''))

test('takes the key of an NF-e, also of a company whose CNPJ has letters', () => {
  const base = `35${'2611'}${'12ABC34501DE35'}${'55'}${'001'}${'000000007'}${'1'}${'12345678'}`
  expect(faultOfFiscalKey('nfe', `${base}${nfeCheckDigit(base)}`)).toBeNull()
  // By hand: the weights 2, 9 and, begun again, 2.
  expect(['1', '10000000', '100000000'].map(end => nfeCheckDigit(end.padStart(43, '0')))).toEqual([9, 2, 9])
})

test('takes each as it is printed', () => {
  fc.assert(
    fc.property(nfe, key => {
      expect(faultOfFiscalKey('nfe', normalizeFiscalKey(groupedFiscalKey(key).toLowerCase()))).toBeNull()
      expect(faultOfFiscalKey('nfse', key)).not.toBeNull()
    }),
  )
  fc.assert(
    fc.property(nfse, key => {
      expect(faultOfFiscalKey('nfse', normalizeFiscalKey(groupedFiscalKey(key)))).toBeNull()
      expect(faultOfFiscalKey('nfe', key)).not.toBeNull()
    }),
  )
})

test('finds a wrong digit before the check digit, unless both stand for nothing', () => {
  fc.assert(
    fc.property(nfe, fc.nat(5), fc.integer({ min: 1, max: 9 }), (key, place, by) => {
      const wrong = key.slice(0, place) + ((Number(key[place]) + by) % 10) + key.slice(place + 1)
      // A rest of 0 and one of 1 have the same check digit.
      fc.pre(!(nfeCheckDigit(wrong.slice(0, -1)) === 0 && key.endsWith('0')))
      expect(faultOfFiscalKey('nfe', wrong)).toMatch(/check digit/)
    }),
  )
})

test('finds a wrong check digit', () => {
  fc.assert(
    fc.property(nfe, fc.integer({ min: 1, max: 9 }), (key, by) => {
      expect(faultOfFiscalKey('nfe', key.slice(0, -1) + ((Number(key.at(-1)) + by) % 10))).toMatch(/check digit/)
    }),
  )
})

test('judges any text without failing', () => {
  fc.assert(
    fc.property(fc.constantFrom('nfe' as const, 'nfse' as const), fc.string({ unit: 'binary' }), (kind, text) => {
      expect(typeof faultOfFiscalKey(kind, normalizeFiscalKey(text))).toBe('string')
    }),
  )
})

test('no letter stands outside the number of the issuer', () => {
  for (const place of [0, 5, 20, 30, 42]) {
    const base = '3'.repeat(43)
    expect(faultOfFiscalKey('nfe', `${base.slice(0, place)}A${base.slice(place + 1)}0`)).toMatch(/44 characters/)
  }
})
