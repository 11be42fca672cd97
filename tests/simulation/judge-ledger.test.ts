import { ledgerDifferences, movedMoney, type SeenEntry, sentTo } from './judge-ledger'

const [PAYER, PAYOUT, DEPOSIT, FEES] = ['0xaa', '0xbb', '0xcc', '0xdd']
const place = { txHash: '0x1', logIndex: 0 }
/** A second before and at the midnight at which October ended in São Paulo. */
const [OCTOBER, NOVEMBER] = [Date.parse('2026-11-01T02:59:59Z') / 1_000, Date.parse('2026-11-01T03:00:00Z') / 1_000]
const transfers = [
  { ...place, block: 1, time: OCTOBER, from: PAYER, to: DEPOSIT, amount: 100n },
  { ...place, block: 2, time: OCTOBER, from: PAYER, to: PAYOUT, amount: 10n },
  { ...place, block: 3, time: NOVEMBER, from: DEPOSIT, to: PAYOUT, amount: 59n },
  { ...place, block: 3, time: NOVEMBER, from: DEPOSIT, to: FEES, amount: 1n },
  { ...place, block: 3, time: NOVEMBER, from: `0x${'0'.repeat(40)}`, to: PAYOUT, amount: 9n },
  { ...place, block: 4, time: NOVEMBER, from: PAYER, to: PAYOUT, amount: 7n },
]
const must = { ...movedMoney({ transfers }, 3, PAYOUT, new Set([DEPOSIT])), givenAway: 3n, returned: 5n }
const rows: SeenEntry[] = [
  { sequence: 1, kind: 'payment', units: 100n },
  { sequence: 2, kind: 'payment', units: 10n },
  { sequence: 3, kind: 'settled', units: 10n },
  { sequence: 4, kind: 'fee', units: 1n },
  { sequence: 5, kind: 'settled', units: 59n },
  { sequence: 6, kind: 'accepted', units: 3n },
  { sequence: 7, kind: 'returned', units: 5n },
]
const seen = {
  gross: 110n,
  fee: 1n,
  settled: 69n,
  waiting: 40n,
  givenAway: 3n,
  returned: 5n,
  settledByMonth: { '2026-10': 10n, '2026-11': 59n },
}

test('what reached the payout address and what lies at deposit addresses follow from confirmed transfers alone', () => {
  expect(must).toEqual({ givenAway: 3n, returned: 5n, settled: 69n, waiting: 40n, settledByMonth: { '2026-10': 10n, '2026-11': 59n } })
  expect(sentTo({ transfers }, 3, FEES)).toBe(1n)
  expect(ledgerDifferences(seen, rows, must)).toEqual([])
})

test.each([
  ['a unit too many', { ...seen, settled: 70n }, rows],
  ['a unit in another month', { ...seen, settledByMonth: { '2026-10': 9n, '2026-11': 60n } }, rows],
  ['a row that the sums lack', seen, [...rows, { sequence: 8, kind: 'direct', units: 1n }]],
  ['what was given away is not what was missing', { ...seen, givenAway: 2n }, rows],
  ['what went back is not what left', { ...seen, returned: 4n }, rows],
  ['a gap', seen, rows.map(row => ({ ...row, sequence: row.sequence === 7 ? 8 : row.sequence }))],
])('%s is seen', (_, books, entries) => {
  expect(ledgerDifferences(books, entries, must)).not.toEqual([])
})
