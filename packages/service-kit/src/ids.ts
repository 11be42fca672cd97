import { randomInt } from 'node:crypto'
import { v7 } from 'uuid'

/** Twelve bits that order the ids of one millisecond; they start in the lower half, at random. */
const COUNTER_MAX = 4095
let counter = { at: Number.NaN, value: 0 }

/**
 * A UUIDv7 of the given moment; those that one process makes within a millisecond follow each other. The counter begins anew each millisecond,
 * so that two ids do not reveal how many were made between them, and the 62 bits after it are random, so that no id can be guessed from another.
 */
export function uuidv7At(at: Date): string {
  const msecs = at.getTime()
  const isSame = counter.at === msecs
  counter = { at: msecs, value: isSame ? Math.min(COUNTER_MAX, counter.value + 1) : randomInt(COUNTER_MAX >> 1) }
  // The library's 32-bit sequence covers the counter and the first 20 of the random bits.
  return v7({ msecs, seq: counter.value * 2 ** 20 + randomInt(2 ** 20) })
}

export const uuidv7 = (): string => uuidv7At(new Date())

/** When a UUIDv7 was made, to the millisecond. */
export const uuidv7Time = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

/** The lowest UUIDv7 of that moment, so that a span of time is a span of ids. */
export function uuidv7Floor(at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}
