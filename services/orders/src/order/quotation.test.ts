import { readQuotation } from './quotation'

const ID = '019ac5f2-3d4e-7a1b-8c2d-0123456789ab'
const words = (text: string) => {
  const read = readQuotation(text)
  if (read.kind !== 'words') throw new Error(`${text} was read as ${read.kind}.`)
  return read
}

it.each([
  [ID, ID, ID],
  [`https://pay.example.com/pay/${ID}/?lang=pt`, ID, ID],
  [ID.replaceAll('-', ''), ID, ID],
  ['019ac5f2', '019ac5f2-0000-0000-0000-000000000000', '019ac5f2-ffff-ffff-ffff-ffffffffffff'],
  ['#019AC5F2-3d4e', '019ac5f2-3d4e-0000-0000-000000000000', '019ac5f2-3d4e-ffff-ffff-ffffffffffff'],
  ['019ac5f2-3d4e…89ab', '019ac5f2-3d4e-0000-0000-000000000000', '019ac5f2-3d4e-ffff-ffff-ffffffffffff'],
])('reads an id in %s', (text, from, to) => expect(readQuotation(text)).toEqual({ kind: 'id', from, to }))

it('a reference of digits is no id', () => {
  expect(words('01234567')).toMatchObject({ references: ['01234567'], digits: '01234567' })
})

it.each([
  ['R$ 1.234,56', [123_456n], []],
  ['1,234.56', [123_456n], [1_234_560_000n]],
  ['1.234', [123_400n], [1_234_000n, 1_234_000_000n]],
  ['49,9 reais', [4_990n], []],
  ['27.675277 USDC', [], [27_675_277n]],
  ['12.34.56', [], []],
  ['R$', [], []],
  ['1234567890123456', [], []],
])('reads an amount in %s', (text, brl, usdc) => {
  const { brlCentavos, usdcUnits } = words(text)
  expect([brlCentavos, [...new Set(usdcUnits)].sort()]).toEqual([brl, usdc])
})

it('reads words without accents, case and what surrounds them', () => {
  expect(words('Pedido nº #PED-1042, (José)!').words).toEqual(['pedido', 'nº', 'ped-1042', 'jose'])
})
