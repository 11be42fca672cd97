import fc from 'fast-check'
import { uuidv7At, uuidv7Floor, uuidv7Time } from './ids'

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
})
