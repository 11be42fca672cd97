import { CENT, formatUsdc, parseUsdc, roundingOf } from '@ponte/contracts/money'

export function shortDecimal(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}

/**
 * What people are asked to send: exchanges take two decimals, so an amount is rounded up to the cent where the order `of` so much USDC takes
 * that as paid exactly.
 */
export function askedUsdc(decimal: string, of = decimal): string {
  const units = parseUsdc(decimal)
  const cents = ((units + CENT - 1n) / CENT) * CENT
  return cents - units <= roundingOf(parseUsdc(of)) ? formatUsdc(cents) : decimal
}
