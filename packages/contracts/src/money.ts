/**
 * The one place where money changes form. Decimal strings exist on the wire only; inside, BRL is integer centavos,
 * USDC is integer base units (10^-6) and a rate is integer micro-BRL per USDC: all `bigint`. Design, section 5.
 */

const BRL_DECIMALS = 2
const USDC_DECIMALS = 6
const RATE_DECIMALS = 6
const BPS = 10_000n

/** BRL decimal string, up to two places (`"150"`, `"150.5"`), to centavos. Throws RangeError on any other text. */
export const parseBrl = (text: string): bigint => parseDecimal(text, BRL_DECIMALS)
/** Centavos to a BRL decimal string with two places: `15000n` to `"150.00"`. */
export const formatBrl = (centavos: bigint): string => formatDecimal(centavos, BRL_DECIMALS)

/** USDC decimal string, up to six places, to base units. Throws RangeError on any other text. */
export const parseUsdc = (text: string): bigint => parseDecimal(text, USDC_DECIMALS)
/** Base units to a USDC decimal string with six places: `27675277n` to `"27.675277"`. */
export const formatUsdc = (units: bigint): string => formatDecimal(units, USDC_DECIMALS)

/** Rate decimal string (BRL per USDC, up to six places) to micro-BRL. Throws RangeError on any other text. */
export const parseRate = (text: string): bigint => parseDecimal(text, RATE_DECIMALS)
/** Micro-BRL per USDC to a decimal string with six places: `5420000n` to `"5.420000"`. */
export const formatRate = (micros: bigint): string => formatDecimal(micros, RATE_DECIMALS)

/**
 * What a BRL amount costs in USDC base units, rounded up so that the merchant is never short:
 * `ceil(centavos · 10^4 / rate)` (docs/money.md#amounts). `rateMicros` must be above zero.
 */
export function usdcForBrl(centavos: bigint, rateMicros: bigint): bigint {
  if (centavos <= 0n || rateMicros <= 0n) throw new RangeError('An amount and a rate must be above zero.')
  const scaled = centavos * 10_000n * 1_000_000n
  return (scaled + rateMicros - 1n) / rateMicros
}

/** The rest of a BRL amount after `units` of its price of `usdcUnits` have come, rounded up. */
export const missingBrl = (centavos: bigint, usdcUnits: bigint, units: bigint): bigint =>
  units >= usdcUnits ? 0n : (centavos * (usdcUnits - units) + usdcUnits - 1n) / usdcUnits

/** Splits a gross amount of base units as the router does: `fee = floor(gross · bps / 10^4)`, `fee + expected = gross`. */
export function splitFee(gross: bigint, feeBps: bigint): { fee: bigint; expected: bigint } {
  if (gross < 0n || feeBps < 0n || feeBps > BPS)
    throw new RangeError('A fee is between 0 and 10000 basis points of an amount of 0 or more.')
  const fee = (gross * feeBps) / BPS
  return { fee, expected: gross - fee }
}

/** The merchant's part of a gross amount. */
export const merchantShare = (gross: bigint, feeBps: bigint): bigint => splitFee(gross, feeBps).expected

/** A cent of USDC: exchanges round withdrawals to it, and what is in sum less decides nothing about an order. */
export const CENT = 10_000n

/** Rounding may take so much from an amount or add it: a cent, at most a hundredth. */
export const roundingOf = (usdcUnits: bigint, limit = CENT): bigint => smaller(limit, usdcUnits / 100n)

/** The most that a merchant may forgive of an order, where the operator has set nothing else. */
export const PAYMENT_TOLERANCE_MAX = 5_000_000n

export interface ToleranceLimits {
  /** Where the merchant chose nothing. */
  defaultUnits: bigint
  /** Most that a merchant may choose. */
  maxUnits: bigint
}

/** By how much an order may be short and still count as paid: as the merchant chose, at most `maxUnits` and a tenth of it; otherwise what rounding takes. */
export const toleranceOf = (usdcUnits: bigint, chosenUnits: bigint | null, { defaultUnits, maxUnits }: ToleranceLimits): bigint =>
  chosenUnits === null ? roundingOf(usdcUnits, defaultUnits) : smaller(smaller(chosenUnits, maxUnits), usdcUnits / 10n)

/** An amount that a merchant may have chosen, as terms carry it, in units; null where nothing was chosen. */
export const parseNullableUsdc = (text: string | null | undefined): bigint | null =>
  text === null || text === undefined ? null : parseUsdc(text)
export const formatNullableUsdc = (units: bigint | null): string | null => (units === null ? null : formatUsdc(units))

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

function parseDecimal(text: string, decimals: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  const [whole, fraction] = [match?.[1], match?.[2] ?? '']
  if (whole === undefined || fraction.length > decimals) {
    throw new RangeError(`Not a decimal with at most ${decimals} places: ${JSON.stringify(text)}`)
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

function formatDecimal(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0')
  const cut = digits.length - decimals
  return `${value < 0n ? '-' : ''}${digits.slice(0, cut)}.${digits.slice(cut)}`
}
