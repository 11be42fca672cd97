import { platformFeeUnits } from './platform-fee'

const order = { confirmedUnits: 100_000_000n, feeBps: 100n }

test.each([
  ['all at once, while nothing is moved', undefined, 1_000_000n],
  ['as it was taken, rounded twice', { feeUnits: 999_999n, settledUnits: 99_000_001n }, 999_999n],
  ['as it was taken, and what it takes of the rest', { feeUnits: 333_333n, settledUnits: 33_000_000n }, 999_999n],
  ['none, where the token refused its receiver', { feeUnits: 0n, settledUnits: 100_000_000n }, 0n],
  ['as it was taken, of money that is not counted yet', { feeUnits: 2_000_000n, settledUnits: 198_000_000n }, 2_000_000n],
])('the fee is %s', (_, moved, expected) => expect(platformFeeUnits(order, moved)).toBe(expected))
