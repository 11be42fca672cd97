/** Units of USDC at a rate in micro-BRL, in centavos: half a centavo away from zero, so that a reversal takes back what it reverses. */
export function centavosAt(units: bigint, rateMicros: bigint): bigint {
  const [value, unit] = [units * rateMicros, 10_000_000_000n]
  return (value < 0n ? value - unit / 2n : value + unit / 2n) / unit
}
