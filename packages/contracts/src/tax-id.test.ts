import fc from 'fast-check'
import { formatTaxId, isTaxId, normalizeTaxId, WEIGHT_MAX, withCheckDigits } from './tax-id'

const charactersOf = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map(list => list.join(''))
const DIGITS = '0123456789'
const LETTERS_TOO = `${DIGITS}ABCDEFGHIJKLMNOPQRSTUVWXYZ`
const cpf = charactersOf(DIGITS, 9).map(base => withCheckDigits(base, WEIGHT_MAX.cpf))
const cnpj = charactersOf(LETTERS_TOO, 12).map(base => withCheckDigits(base, WEIGHT_MAX.cnpj))
const taxId = fc.oneof(cpf, cnpj).filter(text => new Set(text).size > 1)

test('takes the examples by which the two rules are taught', () => {
  // A base that counts up, and the example of the Receita Federal for a CNPJ with letters.
  for (const known of ['12345678909', 'B1A0L1MA000130', '12ABC34501DE35']) expect(isTaxId(known)).toBe(true)
})

test('takes each as it is written, with points, in lower case, between spaces', () => {
  fc.assert(
    fc.property(taxId, known => {
      expect(isTaxId(known)).toBe(true)
      for (const written of [known, formatTaxId(known), ` ${formatTaxId(known).toLowerCase()} `])
        expect(normalizeTaxId(written)).toBe(known)
    }),
  )
})

test('finds every wrong character', () => {
  fc.assert(
    fc.property(cpf, fc.nat(10), fc.integer({ min: 1, max: 9 }), (known, place, by) => {
      // A rest of 0 and one of 1 have the same check digit, 0. The second check digit does not see the first character, whose weight there is 11.
      fc.pre(place === 0 ? known[9] !== '0' : !known.endsWith('00'))
      const wrong = (Number(known[place]) + by) % 10
      expect(isTaxId(known.slice(0, place) + wrong + known.slice(place + 1))).toBe(false)
    }),
  )
})

test('finds a wrong check digit of a CNPJ', () => {
  fc.assert(
    fc.property(cnpj, fc.constantFrom(12, 13), fc.integer({ min: 1, max: 9 }), (known, place, by) => {
      const wrong = (Number(known[place]) + by) % 10
      expect(isTaxId(known.slice(0, place) + wrong + known.slice(place + 1))).toBe(false)
    }),
  )
})

test.each([
  ['', 'nothing'],
  ['1234567890', 'ten digits'],
  ['111.111.111-11', 'one digit alone'],
  ['00000000000000', 'one digit alone'],
  ['12ABC34501DEA5', 'a letter in place of a check digit'],
  ['123.456.789-0９', 'a digit of another alphabet'],
  ['12-345678909', 'a stroke where none belongs'],
  ['１２３４５６７８９０９', 'digits of another alphabet'],
])('refuses %j: %s', text => expect(isTaxId(normalizeTaxId(text))).toBe(false))

test('judges any text without failing', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => typeof isTaxId(normalizeTaxId(text)) === 'boolean'))
})
