import type { Block, Step, Transfer } from './facts'
import { civilDay, differences, figuresOf, ledgersOf, monthStart, sums } from './oracle'

const [PLATFORM, PAYER, OLD, NEW, DEPOSIT] = ['0xfe', '0xaa', '0x01', '0x02', '0xde']
const DAY = 86_400_000
const MARCH = Date.parse('2024-03-01T03:00:00Z')
const ORDER = { id: 'o', merchant: 'm', memo: 'ab', payout: OLD, deposit: DEPOSIT, units: 10_000n, rate: 5_000_000n }

let height = 0
const block = (time: number, transfers: Transfer[], change: { memo?: string; nonce?: string } = {}): Block => {
  const number = ++height
  return { number, hash: `b${number}`, time, transaction: { hash: `t${number}`, memo: null, nonce: null, transfers, ...change } }
}
const split = (from: string, to: string): Transfer[] => [
  { from, to: PLATFORM, units: 100n },
  { from, to, units: 9_900n },
]
const known: Step[] = [
  { at: 0, kind: 'payout', merchant: 'm', version: 1, address: OLD, since: 0 },
  { at: 0, kind: 'asked', order: ORDER },
]
const short = (steps: Step[]) => ledgersOf([...known, ...steps], PLATFORM).map(({ kind, units, at, payout }) => [kind, units, at, payout])

test('fee and share are a payment of the order with its memo and address, and money for none with another', () => {
  const [paid, other] = [block(1, split(PAYER, OLD), { memo: 'ab' }), block(2, split(PAYER, OLD), { memo: 'cd' })]
  expect(short([paid, other].map(one => ({ at: 3, kind: 'confirmed', block: one })))).toEqual([
    ['payment', 10_000n, 1, null],
    ['fee', 100n, 1, null],
    ['settled', 9_900n, 1, OLD],
    ['unmatched', 10_000n, 2, null],
    ['fee', 100n, 2, null],
    ['settled', 9_900n, 2, OLD],
  ])
})

test('a transfer to a deposit address is a payment, its sweep what settles, and a lone one to the payout address direct', () => {
  const blocks = [
    block(1, [{ from: PAYER, to: DEPOSIT, units: 10_000n }]),
    block(2, split(DEPOSIT, OLD)),
    block(3, [{ from: PAYER, to: OLD, units: 7n }]),
    block(4, [{ from: OLD, to: OLD, units: 8n }]),
    block(5, [{ from: OLD, to: PAYER, units: 9n }]),
  ]
  const ledger = ledgersOf([...known, ...blocks.map((one): Step => ({ at: 9, kind: 'confirmed', block: one }))], PLATFORM)
  expect(figuresOf(ledger)).toEqual({
    ...{
      payments: 1,
      brl_amount: 5n,
      gross: 10_007n,
      platform_fee: 100n,
      settled: 9_907n,
      waiting: 0n,
      unmatched: 0n,
      returned: 0n,
      given_away: 0n,
    },
  })
})

test('what is taken back of a closed month counts when that becomes known, and of an open one in it', () => {
  const paid = block(MARCH - 1, [{ from: PAYER, to: OLD, units: 7n }])
  const confirmed: Step = { at: MARCH - 1, kind: 'confirmed', block: paid }
  const gone: Step = { at: MARCH + DAY, kind: 'gone', block: paid }
  expect(short([confirmed, gone]).at(-1)).toEqual(['direct', -7n, MARCH - 1, OLD])
  expect(short([confirmed, { at: MARCH, kind: 'advanced', time: MARCH }, gone]).at(-1)).toEqual(['direct', -7n, MARCH + DAY, OLD])
  expect([MARCH - 1, MARCH, Date.parse('2024-02-29T12:00:00Z')].map(monthStart)).toEqual([
    Date.parse('2024-02-01T03:00:00Z'),
    MARCH,
    Date.parse('2024-02-01T03:00:00Z'),
  ])
})

test('an address is a merchant`s from its time on, also where that is known late', () => {
  const paid = block(10, [{ from: PAYER, to: NEW, units: 7n }])
  const moved: Step = { at: 20, kind: 'payout', merchant: 'm', version: 2, address: NEW, since: 10 }
  const late = block(11, [{ from: PAYER, to: OLD, units: 8n }])
  const confirmed = (one: Block): Step => ({ at: 15, kind: 'confirmed', block: one })
  expect(short([confirmed(paid), confirmed(late), moved])).toEqual([
    ['direct', 8n, 11, OLD],
    ['direct', 7n, 10, NEW],
    ['direct', -8n, 11, OLD],
  ])
})

test('an address is a merchant`s from the whole second on in which it was named, and the one before it until then', () => {
  const moved: Step = { at: 0, kind: 'payout', merchant: 'm', version: 2, address: NEW, since: 5_700 }
  const confirmed = (time: number, to: string): Step => ({ at: 9, kind: 'confirmed', block: block(time, [{ from: PAYER, to, units: 7n }]) })
  expect(short([moved, confirmed(4_000, NEW), confirmed(5_000, NEW), confirmed(5_000, OLD), confirmed(6_000, OLD)])).toEqual([
    ['direct', 7n, 5_000, NEW],
    ['direct', 7n, 5_000, OLD],
  ])
})

test('an acceptance gives away what is missing beside the last payment, and a refund is what its authorization moved', () => {
  const paid = block(1, [{ from: PAYER, to: DEPOSIT, units: 6_000n }])
  const returned = block(2, [{ from: OLD, to: PAYER, units: 50n }], { nonce: 'n' })
  expect(
    short([
      { at: 3, kind: 'confirmed', block: paid },
      { at: 4, kind: 'accepted', orderId: 'o' },
      { at: 4, kind: 'promised', nonce: 'n', orderId: 'o' },
      { at: 5, kind: 'confirmed', block: returned },
    ]),
  ).toEqual([
    ['payment', 6_000n, 1, null],
    ['accepted', 4_000n, 1, null],
    ['returned', 50n, 2, OLD],
  ])
})

test('days are by the clocks of their zone, and differences name what is missing, what is too much and what is another', () => {
  const at = Date.parse('2024-03-10T07:30:00Z')
  expect(['UTC', 'America/Sao_Paulo', 'Pacific/Kiritimati'].map(zone => civilDay(zone)(at - 5 * 3_600_000))).toEqual([
    ...['2024-03-10', '2024-03-09', '2024-03-10'],
  ])
  const seen = sums(
    [
      { name: 'a', units: 1n },
      { name: 'b', units: 2n },
      { name: 'z', units: 0n },
    ],
    ({ name }) => name,
  )
  const must = sums(
    [
      { name: 'b', units: 3n },
      { name: 'c', units: 4n },
    ],
    ({ name }) => name,
  )
  expect(differences('books', seen, must)).toEqual([
    'books, a: 1 and must be undefined',
    'books, b: 2 and must be 3',
    'books, c: undefined and must be 4',
  ])
})
