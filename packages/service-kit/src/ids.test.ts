import fc from 'fast-check'
import { z } from 'zod'
import { uuidv7At, uuidv7Floor, uuidv7Time, uuidv8Of } from './ids'

const counterOf = (id: string) => Number.parseInt(id.slice(15, 18), 16)
const randomBitsOf = (id: string) => BigInt(`0x${id.slice(19).replace('-', '')}`) & ((1n << 62n) - 1n)
const moments = fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })

describe('a UUIDv7 of a given moment', () => {
  it('names its moment and sorts by it', () => {
    fc.assert(
      fc.property(moments, moments, (a, b) => {
        expect(uuidv7Time(uuidv7At(a))).toEqual(a)
        expect(uuidv7At(a) < uuidv7Floor(b)).toBe(a < b)
      }),
    )
  })
  it('follows the one before it within a millisecond', () => {
    const at = new Date()
    const ids = Array.from({ length: 1000 }, () => uuidv7At(at))
    expect([...ids].sort()).toEqual(ids)
  })
  it('does not reveal how many were made since another one', () => {
    const counters = Array.from({ length: 400 }, (_, ms) => counterOf(uuidv7At(new Date(1_800_000_000_000 + ms))))
    const steps = counters.slice(1).map((counter, index) => counter - (counters[index] ?? 0))
    expect(new Set(steps).size).toBeGreaterThan(100)
    expect(Math.max(...counters)).toBeLessThan(2048)
  })
  it('has 62 random bits after the counter, also within a millisecond', () => {
    const at = new Date()
    const ids = Array.from({ length: 2000 }, () => randomBitsOf(uuidv7At(at)))
    for (let bit = 0n; bit < 62n; bit++) {
      const ones = ids.filter(random => (random >> bit) & 1n).length
      expect(Math.abs(ones - 1000)).toBeLessThan(250)
    }
    expect(new Set(ids).size).toBe(2000)
  })
  it('stays a UUIDv7 of its moment when more are made than a millisecond can order', () => {
    const at = new Date()
    const ids = Array.from({ length: 5000 }, () => uuidv7At(at))
    expect(new Set(ids).size).toBe(5000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(uuidv7Time(ids.at(-1) ?? '')).toEqual(at)
  })
})

it('a UUIDv8 of a value names its moment, sorts by it, and is another one for another value', () => {
  const value = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(
    fc.property(moments, moments, value, value, (a, b, one, other) => {
      const id = uuidv8Of(one, a)
      expect(z.uuid({ version: 'v8' }).parse(id)).toBe(id)
      expect(uuidv7Time(id)).toEqual(a)
      expect(id < uuidv7Floor(b)).toBe(a < b)
      expect(uuidv8Of(other, a) === id).toBe(Buffer.compare(one, other) === 0)
    }),
  )
})
