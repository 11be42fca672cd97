import type { Observation } from './quote'

/** Where a rate comes from. `observe` rejects when the source cannot be read; the others still count. */
export interface RateSource {
  name: string
  observe(): Promise<Observation>
}

/** A source that does not answer within this time has not answered. */
export const SOURCE_DEADLINE_MS = 10_000

/** Micro-BRL per USDC of what a source calls dollars per real, as the fraction that it is. Rounded down: a lower rate never leaves the merchant short. */
export const invertedMicros = (numerator: bigint, denominator: bigint): bigint => (denominator * 1_000_000n) / numerator
