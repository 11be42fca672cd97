import { formatBrl, type OrderBody, parseBrl } from '@ponte/contracts'
import { type Day, scaleTop, volumesOf } from './volumes'

const now = new Date(2026, 10, 20, 15)
const order = (status: string, brl: string, received: string, paidAt: Date | null) =>
  ({ status, brl_amount: brl, received, paid_at: paidAt?.toISOString() ?? null }) as unknown as OrderBody

test('what was paid is summed by civil day, exactly', () => {
  const volumes = volumesOf(
    [
      order('paid', '0.10', '0.100001', new Date(2026, 10, 20, 0, 0, 1)),
      order('paid', '0.20', '0.200002', new Date(2026, 10, 19, 23, 59)),
      order('paid', '9007199254740993.00', '1.000000', new Date(2026, 10, 14)),
      order('paid', '5.00', '1.000000', new Date(2026, 10, 13, 23, 59)),
      order('pending', '7.00', '0.000000', null),
    ],
    now,
    7,
  )
  expect(volumes.days.map(day => day.date)).toEqual([14, 15, 16, 17, 18, 19, 20].map(day => `2026-11-${day}`))
  expect(volumes.days.at(-1)).toMatchObject({ brl: 10n, usdc: 100_001n, paid: 1 })
  expect(volumes.days.at(-2)).toMatchObject({ brl: 20n, paid: 1 })
  expect(volumes).toMatchObject({ brl: '9007199254740993.30', usdc: '1.300003', byStatus: { paid: 4, pending: 1, expired: 0 } })
})

test.each([
  ['0.00', '100.00'],
  ['100.01', '200.00'],
  ['1999.99', '2000.00'],
  ['2000.01', '5000.00'],
  ['90071992547409.93', '100000000000000.00'],
])('a chart whose best day is %s ends at %s', (best, top) => {
  const day = (text: string) => ({ brl: parseBrl(text) }) as Day
  expect(formatBrl(scaleTop([day('0.01'), day(best)]))).toBe(top)
})
