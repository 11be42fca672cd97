import { centavosAt } from './centavos'

test('units at a rate are rounded to the nearest centavo, and a reversal is the opposite', () => {
  for (const [units, rate, centavos] of [
    [100_000_000n, 5_420_000n, 54_200n],
    [1n, 5_420_000n, 0n],
    [922n, 5_420_000n, 0n],
    [923n, 5_420_000n, 1n],
    [0n, 5_420_000n, 0n],
    [999_999n, 5_000_049n, 500n],
  ] as const) {
    expect(centavosAt(units, rate)).toBe(centavos)
    expect(centavosAt(-units, rate)).toBe(-centavos)
  }
})
