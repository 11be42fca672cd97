import { scaleTop, spanOf } from './volumes'

test('a span ends today and has as many civil days as it states, over months and clock changes', () => {
  expect(spanOf(new Date(2026, 10, 20, 23, 59), 7)).toEqual({ from: '2026-11-14', to: '2026-11-20' })
  expect(spanOf(new Date(2026, 2, 1, 0, 0), 30)).toEqual({ from: '2026-01-31', to: '2026-03-01' })
})

test.each([
  ['0.00', 100_00n],
  ['100.01', 200_00n],
  ['1999.99', 2000_00n],
  ['2000.01', 5000_00n],
  ['90071992547409.93', 100_000_000_000_000_00n],
])('a chart whose best day is %s ends at %s centavos', (best, top) => {
  expect(scaleTop([{ brl_amount: '0.01' }, { brl_amount: best }])).toBe(top)
})
