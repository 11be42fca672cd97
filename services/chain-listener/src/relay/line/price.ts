/** Offered for a unit of gas: at most, and to the block's producer. */
export interface Price {
  max: bigint
  tip: bigint
}

/** Room for the base fee to double before the transaction has to be offered anew. */
export function priceAt(baseFee: bigint, tip: bigint, ceiling: bigint): Price {
  const max = smaller(baseFee * 2n + tip, ceiling)
  return { max, tip: smaller(tip, max) }
}

/**
 * A higher offer for a transaction that is stuck: nodes want a tenth more of both to replace it, we give a quarter, or what the market asks
 * now when that is more. Undefined when the ceiling leaves no room for a tenth.
 */
export function raised(before: Price, market: Price, ceiling: bigint): Price | undefined {
  const more = (offer: bigint, asked: bigint) => larger((offer * 5n) / 4n + 1n, asked)
  const max = smaller(more(before.max, market.max), ceiling)
  if (max * 10n < before.max * 11n) return undefined
  return { max, tip: smaller(more(before.tip, market.tip), max) }
}

/** Room below the highest price, so that a transaction that no one mines can still be replaced at a price that nodes take. */
export const ceilingBelow = (highest: bigint): bigint => (highest * 4n) / 5n

/** The gas limit to sign: what was estimated with room for a state that moves on, and never above the cap. */
export const gasLimitOf = (estimate: bigint, most: bigint): bigint => smaller((estimate * 6n) / 5n + 20_000n, most)

const WEI = 10n ** 18n

/** Native coin in token units, rounded up; `coinUnits` is the price of a whole coin. */
export const unitsOf = (wei: bigint, coinUnits: bigint): bigint => (wei * coinUnits + WEI - 1n) / WEI

/** The highest price of gas at which so much gas costs no more than this. */
export const priceWithin = (gas: bigint, units: bigint, coinUnits: bigint): bigint => (units * WEI) / (gas * coinUnits)

/** The part of an amount that its transaction may cost. */
export const shareOf = (units: bigint, shareBps: number): bigint => (units * BigInt(shareBps)) / 10_000n

export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const larger = (a: bigint, b: bigint) => (a > b ? a : b)
