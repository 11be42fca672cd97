import { reachedBy } from './reach'

describe('how far enough nodes have come', () => {
  it.each([
    [[100, 100, 100], 2, 100],
    [[1_000_000, 100, 99], 2, 100],
    [[0, 100, 99], 2, 99],
    [[101, 100], 2, 100],
    [[100], 2, undefined],
    [[], 1, undefined],
  ])('of %j, %i of which must agree, is %p', (heads, quorum, reached) => {
    expect(reachedBy(heads, quorum)).toBe(reached)
  })
})
