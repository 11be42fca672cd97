import { ApiError } from '@ponte/contracts'

/** One source's word on the price of a USDC in reais. */
export interface Observation {
  source: string
  rateMicros: bigint
  asOf: Date
  /** Older than this it prices nothing. */
  maxAgeS: number
}

/** The rate an order is priced with, fixed at its creation. */
export interface Quote {
  rateMicros: bigint
  source: string
  asOf: Date
  spreadBps: number
}

export interface QuoteLimits {
  maxSpreadBps: number
  /** A price outside is no rate of this currency, whichever source gives it. */
  minMicros: bigint
  maxMicros: bigint
}

/** Observations that can price an order at this moment: young enough, each by its own maximum age, and within bounds. */
export const usable = (observations: readonly Observation[], limits: QuoteLimits, at: Date): Observation[] =>
  observations
    .filter(({ asOf, maxAgeS }) => at.getTime() - asOf.getTime() <= maxAgeS * 1000)
    .filter(({ rateMicros }) => rateMicros > 0n && rateMicros >= limits.minMicros && rateMicros <= limits.maxMicros)

/**
 * The median of the fresh observations, as old as the oldest of them. Throws `rate_unavailable` when none is fresh or
 * when they differ by more than the limit: no order is priced on a guess (docs/money.md#quotes).
 */
export function quote(observations: readonly Observation[], limits: QuoteLimits, at: Date): Quote {
  const fresh = usable(observations, limits, at).sort((a, b) => Number(a.rateMicros > b.rateMicros) - Number(a.rateMicros < b.rateMicros))
  const [lowest, highest] = [fresh[0], fresh.at(-1)]
  if (!lowest || !highest) throw unavailable('no exchange rate source has a fresh rate within bounds')
  // Rounded up, so that a difference above the limit never passes for one at the limit.
  const spreadBps = Number(((highest.rateMicros - lowest.rateMicros) * 10_000n + lowest.rateMicros - 1n) / lowest.rateMicros)
  if (spreadBps > limits.maxSpreadBps) throw unavailable('the exchange rate sources disagree')
  return {
    rateMicros: median(fresh.map(observation => observation.rateMicros)),
    source: fresh.map(observation => observation.source).join(','),
    asOf: new Date(Math.min(...fresh.map(observation => observation.asOf.getTime()))),
    spreadBps,
  }
}

const unavailable = (why: string) =>
  new ApiError('rate_unavailable', `No order can be priced now: ${why}. Try again shortly.`, { retryAfterS: 10 })

/** Stands for every quote while orders are paused. */
export function refusePaused(): never {
  throw new ApiError('orders_paused', 'No new orders are taken at the moment; those that exist can be paid. Try again later.', {
    retryAfterS: 60,
  })
}

/** Of an even number, the mean of the middle two, rounded down: a lower rate asks for more USDC, so the merchant is never short. */
function median(sorted: readonly bigint[]): bigint {
  const middle = Math.floor(sorted.length / 2)
  const [low, high] = [sorted[middle - 1] ?? 0n, sorted[middle] ?? 0n]
  return sorted.length % 2 === 1 ? high : (low + high) / 2n
}
