import type { Observation } from './quote'

/** Where a rate comes from. `observe` rejects when the source cannot be read; the others still count. */
export interface RateSource {
  name: string
  observe(): Promise<Observation>
}

/** A rate's time may lie this far ahead of our clock; clocks differ. A time further ahead would stay fresh until it came. */
export const AHEAD_MAX_S = 5

/** Throws on a time that lies ahead: it is refused, because an age below zero means nothing. */
export function demandPast(source: string, asOf: Date, now: Date, aheadMaxS: number): Date {
  if (asOf.getTime() > now.getTime() + aheadMaxS * 1_000)
    throw new Error(`${source} gives a rate of ${asOf.toISOString()}, which lies ahead.`)
  return asOf
}

/** A source that does not answer within this time has not answered. */
export const SOURCE_DEADLINE_MS = 10_000

/** Micro-BRL per USDC of what a source calls dollars per real, as the fraction that it is. Rounded down: a lower rate never leaves the merchant short. */
export const invertedMicros = (numerator: bigint, denominator: bigint): bigint => (denominator * 1_000_000n) / numerator
