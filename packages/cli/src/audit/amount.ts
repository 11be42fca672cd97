/** Units of 0.000001 USDC of an amount as the API writes it, which may be negative. Throws on anything else. */
export function unitsOf(decimal: string): bigint {
  const parts = /^(-?)(\d+)\.(\d{6})$/.exec(decimal)
  if (!parts) throw new Error(`The server answered ${decimal}, which is no amount of USDC.`)
  const units = BigInt(`${parts[2]}${parts[3]}`)
  return parts[1] === '-' ? -units : units
}

export function usdcOf(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(7, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}
