import { boundedSeries } from './series'

const OTHERS = { size: '(other)', colour: '(other)' }
const pair = (size: number) => ({ size, colour: 'red' })

describe('the series of a metric', () => {
  it('holds what came first, and counts what is beyond its bound as one', () => {
    const series = boundedSeries(['size', 'colour'], { max: 3 })
    expect([1, 2, 3, 4, 5, 3, 1].map(size => series.of(pair(size)))).toEqual([pair(1), pair(2), pair(3), OTHERS, OTHERS, pair(3), pair(1)])
  })

  it('takes labels in any order, and numbers as their text, for the same', () => {
    const series = boundedSeries(['size', 'colour'], { max: 1 })
    series.of(pair(1))
    expect(series.of({ colour: 'red', size: '1' })).toEqual({ colour: 'red', size: '1' })
    expect(series.of({ size: '1","red', colour: '' })).toEqual(OTHERS)
  })

  it('keeps a place for those that are known beforehand', () => {
    const series = boundedSeries(['size', 'colour'], { known: [pair(1), pair(2), pair(3)], max: 2 })
    expect([4, 3, 2, 1].map(size => series.of(pair(size)))).toEqual([OTHERS, pair(3), pair(2), pair(1)])
  })

  it('keeps a label that is closed', () => {
    const series = boundedSeries(['size', 'colour'], { closed: ['colour'], max: 1 })
    expect([1, 2].map(size => series.of(pair(size)))).toEqual([pair(1), { size: '(other)', colour: 'red' }])
  })

  it('has room again when its metric was emptied', () => {
    const series = boundedSeries(['size', 'colour'], { max: 1 })
    expect([1, 2].map(size => series.of(pair(size)))).toEqual([pair(1), OTHERS])
    series.clear()
    expect([2, 1].map(size => series.of(pair(size)))).toEqual([pair(2), OTHERS])
  })
})
