import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'

export { v7 as uuidv7 } from 'uuid'

let count = randomBytes(4).readUInt32BE()

/** A UUIDv7 of the given moment; those that one process makes within a millisecond follow each other. */
export function uuidv7At(at: Date): string {
  count = (count + 1) >>> 0
  return v7({ msecs: at.getTime(), seq: count })
}

/** When a UUIDv7 was made, to the millisecond. */
export const uuidv7Time = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

/** What no UUIDv7 of that moment or later is below, and every earlier one is: a span of time as a span of ids. */
export function uuidv7Floor(at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}
