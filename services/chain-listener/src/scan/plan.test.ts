import fc from 'fast-check'
import { confirmedLine, plan, relate } from './plan'

describe('the plan', () => {
  it('waits at the head and when the head lies behind', () => {
    expect(plan({ scanned: 10, head: 10, window: 5, span: 100 })).toEqual({ kind: 'wait' })
    expect(plan({ scanned: 10, head: 3, window: 5, span: 100 })).toEqual({ kind: 'wait' })
  })

  it('reads blocks one by one within the reorganisation window, and finished spans below it', () => {
    expect(plan({ scanned: 10, head: 12, window: 5, span: 100 })).toEqual({ kind: 'blocks', from: 11, to: 12 })
    expect(plan({ scanned: 10, head: 20, window: 5, span: 100 })).toEqual({ kind: 'finalized', from: 11, to: 15 })
    expect(plan({ scanned: -1, head: 1_000, window: 5, span: 100 })).toEqual({ kind: 'finalized', from: 0, to: 99 })
  })

  it('makes nothing finalized that enough nodes have not reached', () => {
    expect(plan({ scanned: 10, head: 1_000, reached: 20, window: 5, span: 100 })).toEqual({ kind: 'finalized', from: 11, to: 15 })
    expect(plan({ scanned: 15, head: 1_000, reached: 20, window: 5, span: 100 })).toEqual({ kind: 'blocks', from: 16, to: 47 })
  })

  it('reads every block exactly once and ends at the head', () => {
    const fields = {
      start: fc.nat(50),
      head: fc.nat(3_000),
      window: fc.integer({ min: 1, max: 200 }),
      span: fc.integer({ min: 1, max: 700 }),
    }
    fc.assert(
      fc.property(fc.record(fields), ({ start, head, window, span }) => {
        let scanned = start - 1
        for (let next = plan({ scanned, head, window, span }); next.kind !== 'wait'; next = plan({ scanned, head, window, span })) {
          expect(next.from).toBe(scanned + 1)
          expect(next.to).toBeGreaterThanOrEqual(next.from)
          if (next.kind === 'finalized') expect(next.to).toBeLessThanOrEqual(head - window)
          scanned = next.to
        }
        expect(scanned).toBe(Math.max(head, start - 1))
      }),
    )
  })
})

describe('the confirmed line', () => {
  it('counts the scanned block itself as the first confirmation', () => {
    expect(confirmedLine({ scanned: 100, confirmed: 0, confirmations: 1 })).toBe(100)
    expect(confirmedLine({ scanned: 100, confirmed: 0, confirmations: 12 })).toBe(89)
  })

  it('never goes back', () => {
    expect(confirmedLine({ scanned: 100, confirmed: 95, confirmations: 12 })).toBe(95)
  })
})

describe("the relation to a node's chain", () => {
  const position = { number: 10, hash: '0xa' }

  it('is linked when the node has our block, forked when it has another one there', () => {
    expect(relate(position, { number: 12 }, { hash: '0xa' })).toBe('linked')
    expect(relate(position, { number: 12 }, { hash: '0xb' })).toBe('forked')
    expect(relate({ number: -1, hash: null }, { number: 0 }, undefined)).toBe('linked')
  })

  it('is behind when the node cannot show a block below its own head, and unknown when its head is below us', () => {
    expect(relate(position, { number: 12 }, undefined)).toBe('behind')
    expect(relate(position, { number: 9 }, undefined)).toBe('unknown')
  })
})
