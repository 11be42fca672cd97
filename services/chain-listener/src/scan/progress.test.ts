import { catchUp, progressOf } from './progress'

describe('a catch-up', () => {
  it('reports blocks, percent and time left', () => {
    const begun = catchUp(undefined, { from: 1_000, to: 1_100, head: 2_000, at: 0 })
    expect(progressOf(begun)).toEqual({ blocks_left: 900, percent: 10, seconds_left: null })
    const half = catchUp(begun, { from: 1_100, to: 1_500, head: 2_000, at: 5_000 })
    expect(progressOf(half)).toEqual({ blocks_left: 500, percent: 50, seconds_left: 5 })
  })

  it('is none near the head', () => {
    expect(catchUp(undefined, { from: 990, to: 991, head: 1_000, at: 0 })).toBeUndefined()
    expect(progressOf(undefined)).toBeNull()
  })
})
