/** What a transaction broadcaster for a unit of gas: at most, and to the block's producer. */
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

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
const larger = (a: bigint, b: bigint) => (a > b ? a : b)
