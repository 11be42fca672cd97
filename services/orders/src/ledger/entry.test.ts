import fc from 'fast-check'
import { ACCOUNTS, balances, figuresOf, type KindSum } from './entry'

const kind = fc.constantFrom('payment', 'unmatched', 'direct', 'fee', 'settled', 'accepted', 'returned')
const entries = fc.array(fc.record({ kind, units: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }) }))
const sum = (kind: KindSum['kind'], units: bigint, brlCentavos = 0n): KindSum => ({ kind, movements: 1, units, brlCentavos })

test('whatever moved, the accounts come to nothing in sum', () => {
  fc.assert(
    fc.property(entries, moved => {
      expect(Object.values(balances(moved)).reduce((total, held) => total + held, 0n)).toBe(0n)
    }),
  )
})

test('the figures are the accounts: payers gave gross, had what was returned and were spared what was given away, and fee, settled and waiting are where it is', () => {
  fc.assert(
    fc.property(entries, moved => {
      const held = balances(moved)
      const units = (text: string) => BigInt(text.replace('.', ''))
      const figures = figuresOf(moved.map(({ kind, units }) => sum(kind, units)))
      const returned = units(figures.returned)
      expect([figures.gross, figures.platform_fee, figures.settled, figures.waiting].map(units)).toEqual([
        returned - held.payer - held.given_away,
        held.platform,
        held.payout + returned,
        held.received,
      ])
    }),
  )
})

test('money leaves a payer, and what settles leaves what was received', () => {
  expect(ACCOUNTS.payment).toEqual(['payer', 'received'])
  expect(ACCOUNTS.direct).toEqual(['payer', 'payout'])
  expect(
    figuresOf([sum('payment', 100_000_000n, 54_200n), sum('direct', 5_000_000n), sum('fee', 1_000_000n), sum('settled', 49_000_000n)]),
  ).toEqual({
    payments: 1,
    brl_amount: '542.00',
    gross: '105.000000',
    platform_fee: '1.000000',
    settled: '54.000000',
    waiting: '50.000000',
    unmatched: '0.000000',
    returned: '0.000000',
    given_away: '0.000000',
  })
})
