import { RpcError } from './error'
import { afterAnswer, afterTooWide, createRangeLimit } from './range-limit'

describe('the span', () => {
  it('halves when it was too wide, or takes what the node suggests', () => {
    expect(afterTooWide({ blocks: 500, ceiling: 5_000 }, 500)).toEqual({ blocks: 250, ceiling: 250 })
    expect(afterTooWide({ blocks: 500, ceiling: 5_000 }, 500, 10)).toEqual({ blocks: 10, ceiling: 10 })
    expect(afterTooWide({ blocks: 500, ceiling: 5_000 }, 500, 10_000)).toEqual({ blocks: 250, ceiling: 250 })
    expect(afterTooWide({ blocks: 500, ceiling: 5_000 }, 3, 0)).toEqual({ blocks: 1, ceiling: 1 })
    expect(afterTooWide({ blocks: 1, ceiling: 1 }, 1)).toBeUndefined()
  })

  it('grows while answers are small and quick, never past what is allowed, and shrinks when they are heavy', () => {
    let span = { blocks: 1, ceiling: 1 }
    for (let n = 0; n < 400; n++) span = afterAnswer(span, { count: span.blocks, bytes: 100, ms: 1 }, 5_000)
    expect(span).toEqual({ blocks: 5_000, ceiling: 5_000 })
    expect(afterAnswer(span, { count: 5_000, bytes: 15_000_000, ms: 1 }, 5_000).blocks).toBe(2_500)
    expect(afterAnswer({ blocks: 1, ceiling: 5_000 }, { count: 1, bytes: 15_000_000, ms: 9_000 }, 5_000).blocks).toBe(1)
  })
})

describe('the span near the head', () => {
  it('shrinks to what the blocks there let a range bear, and is not shrunk by a single light one', () => {
    let span = { blocks: 5_000, ceiling: 5_000 }
    expect(afterAnswer(span, { count: 1, bytes: 300, ms: 1 }, 5_000).blocks).toBe(5_000)
    for (let n = 0; n < 20; n++) span = afterAnswer(span, { count: 1, bytes: 100_000, ms: 1 }, 5_000)
    expect(span.blocks).toBe(20)
  })
})

test('a block that is refused alone leaves the width of other ranges as it was', () => {
  const limit = createRangeLimit(1_000)
  limit.grow({ count: 0, bytes: 0, ms: 1 })
  const before = limit.blocks()
  const refusal = new RpcError('too_wide', 'exceed maximum block range')
  while (limit.shrink(limit.blocks(), refusal)) expect(limit.blocks()).toBeLessThan(before)
  expect(limit.blocks()).toBe(before)
})
