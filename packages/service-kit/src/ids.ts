import { createHash, randomInt } from 'node:crypto'
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

/**
 * A UUIDv8 of the given moment, in the order of UUIDv7s of other milliseconds. Its other bits are of a hash of the value, so that where the id is kept the
 * value can be compared, and not learnt.
 */
export function uuidv8Of(value: Uint8Array, at = new Date()): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  const bits = createHash('sha256').update(value).digest('hex')
  const variant = ((Number.parseInt(bits.charAt(3), 16) & 3) | 8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-8${bits.slice(0, 3)}-${variant}${bits.slice(4, 7)}-${bits.slice(7, 19)}`
}

/** When a UUIDv7 was made, to the millisecond. */
export const uuidv7Time = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

/** The lowest UUIDv7 of that moment, so that a span of time is a span of ids. */
export function uuidv7Floor(at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}
