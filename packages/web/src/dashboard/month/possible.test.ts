import { possibleOf, standingOf } from './possible'

const transfer = (amount: string, market_brl_amount: string | null, ptax_rate: string | null = null, reverses: number | null = null) => ({
  ...{ amount, market_brl_amount, ptax_rate, reverses },
})

test('plain transfers come to their value at the time of their blocks, by the median or else by PTAX, and what has neither is counted', () => {
  const transfers = [
    transfer('100.000000', '542.00', '5.500000'),
    transfer('10.000001', null, '5.500000'),
    transfer('0.000001', null),
    transfer('7.000000', null),
  ]
  expect(possibleOf(transfers)).toEqual({ centavos: 59_700n, valued: 2, unvalued: 2, unvaluedUnits: 7_000_001n })
  expect(possibleOf([])).toEqual({ centavos: 0n, valued: 0, unvalued: 0, unvaluedUnits: 0n })
})

test('what was taken back comes to nothing, whatever it was valued by', () => {
  const kept = [transfer('100.000000', '542.00'), transfer('10.000001', null, '5.500000'), transfer('7.000000', null)]
  const taken = kept.map(({ amount, market_brl_amount, ptax_rate }, index) =>
    transfer(`-${amount}`, market_brl_amount && `-${market_brl_amount}`, ptax_rate, index + 1),
  )
  expect(possibleOf([...kept, ...taken])).toEqual({ centavos: 0n, valued: 0, unvalued: 0, unvaluedUnits: 0n })
})

test.each([
  [3_500_001n, 0n, 'above'],
  [3_500_000n, 0n, 'below'],
  [3_500_000n, 1n, 'possibly'],
  [3_000_000n, 500_000n, 'below'],
  [-1n, 3_500_001n, 'below'],
] as const)('orders of %s and plain transfers of %s centavos are %s the limit', (orders, possible, standing) =>
  expect(standingOf(orders, possible, 3_500_000n)).toBe(standing),
)
