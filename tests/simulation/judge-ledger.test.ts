import { ledgerDifferences, movedMoney, type SeenEntry, sentTo } from './judge-ledger'

const [PAYER, PAYOUT, DEPOSIT, FEES, OLD] = ['0xaa', '0xbb', '0xcc', '0xdd', '0xee']
const place = { txHash: '0x1', logIndex: 0 }
/** A second before and at the midnight at which October ended in São Paulo. */
const [OCTOBER, NOVEMBER] = [Date.parse('2026-11-01T02:59:59Z') / 1_000, Date.parse('2026-11-01T03:00:00Z') / 1_000]
const transfers = [
  { ...place, block: 1, time: OCTOBER, from: PAYER, to: DEPOSIT, amount: 100n },
  { ...place, block: 2, time: OCTOBER, from: PAYER, to: PAYOUT, amount: 10n },
  { ...place, block: 3, time: NOVEMBER, from: DEPOSIT, to: PAYOUT, amount: 59n },
  { ...place, block: 3, time: NOVEMBER, from: DEPOSIT, to: FEES, amount: 1n },
  { ...place, block: 3, time: NOVEMBER, from: `0x${'0'.repeat(40)}`, to: PAYOUT, amount: 9n },
  { ...place, block: 3, time: NOVEMBER, from: PAYOUT, to: PAYOUT, amount: 11n },
  { ...place, block: 3, time: NOVEMBER, from: PAYER, to: OLD, amount: 13n },
  { ...place, block: 1, time: OCTOBER, from: PAYER, to: OLD, amount: 2n },
  { ...place, block: 4, time: NOVEMBER, from: PAYER, to: PAYOUT, amount: 7n },
]
const payouts = [
  { address: OLD, from: 0, to: NOVEMBER },
  { address: PAYOUT, from: 0, to: Number.POSITIVE_INFINITY },
]
const must = { ...movedMoney({ transfers }, 3, payouts, new Set([DEPOSIT])), givenAway: 3n, returned: 5n }
const rows: SeenEntry[] = [
  { sequence: 1, kind: 'payment', units: 100n },
  { sequence: 2, kind: 'payment', units: 10n },
  { sequence: 3, kind: 'settled', units: 10n },
  { sequence: 4, kind: 'fee', units: 1n },
  { sequence: 5, kind: 'settled', units: 59n },
  { sequence: 6, kind: 'accepted', units: 3n },
  { sequence: 7, kind: 'returned', units: 5n },
  { sequence: 8, kind: 'direct', units: 2n },
  { sequence: 9, kind: 'direct', units: 9n },
]
const seen = {
  gross: 121n,
  fee: 1n,
  settled: 80n,
  waiting: 40n,
  givenAway: 3n,
  returned: 5n,
  settledByMonth: { '2026-10': 12n, '2026-11': 68n },
}

test('what reached the payout address and what lies at deposit addresses follow from confirmed transfers alone', () => {
  expect(must).toEqual({ givenAway: 3n, returned: 5n, settled: 80n, waiting: 40n, settledByMonth: { '2026-10': 12n, '2026-11': 68n } })
  expect(sentTo({ transfers }, 3, FEES)).toBe(1n)
  expect(ledgerDifferences(seen, rows, must)).toEqual([])
})

test.each([
  ['a unit too many', { ...seen, settled: 81n }, rows],
  ['a unit in another month', { ...seen, settledByMonth: { '2026-10': 11n, '2026-11': 69n } }, rows],
  ['a row that the sums lack', seen, [...rows, { sequence: 10, kind: 'direct', units: 1n }]],
  ['what was given away is not what was missing', { ...seen, givenAway: 2n }, rows],
  ['what went back is not what left', { ...seen, returned: 4n }, rows],
  ['a gap', seen, rows.map(row => ({ ...row, sequence: row.sequence === 9 ? 10 : row.sequence }))],
])('%s is seen', (_, books, entries) => {
  expect(ledgerDifferences(books, entries, must)).not.toEqual([])
})
