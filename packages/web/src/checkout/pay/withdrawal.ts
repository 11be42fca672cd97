import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { askedUsdc, shortDecimal } from '../../asked-amount'

/** Decimal USDC to withdraw from an exchange that takes its fee off it, so that what is due of an order `of` so much arrives. */
export const withdrawalOf = (due: string, of: string, fee: string): string =>
  shortDecimal(askedUsdc(formatUsdc(parseUsdc(due) + parseUsdc(fee)), of))

/** Whether a field of two decimals takes it. */
export const isInCents = (decimal: string): boolean => /^\d+\.\d\d$/.test(decimal)
