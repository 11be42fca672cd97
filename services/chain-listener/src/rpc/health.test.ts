import { afterFailure, afterHead, afterSuccess, candidates, fresh, standsStill, voters } from './health'

describe('the health of a node', () => {
  it('sends a failing node to rest, longer each time, and forgives it when it answers', () => {
    const once = afterFailure(fresh(0), 'unavailable', 1_000)
    expect(once.restUntil).toBe(1_250)
    const twice = afterFailure(once, 'unavailable', once.restUntil)
    expect(twice.restUntil - once.restUntil).toBe(500)
    const often = Array.from({ length: 20 }).reduce((health: typeof once) => afterFailure(health, 'unavailable', health.restUntil), once)
    const again = afterFailure(often, 'unavailable', often.restUntil)
    expect(again.restUntil - often.restUntil).toBe(60_000)
    expect(afterSuccess(again, again.restUntil)).toMatchObject({ failures: 0, restUntil: 0, reason: null })
  })

  it('counts requests that fail together as one failure', () => {
    const together = Array.from({ length: 8 }).reduce(
      (health: ReturnType<typeof fresh>) => afterFailure(health, 'unavailable', 1_000),
      fresh(0),
    )
    expect(together).toMatchObject({ failures: 1, restUntil: 1_250 })
  })

  it('lets no later failure shorten a rest, and a graver one lengthen it', () => {
    const outvoted = afterFailure(fresh(0), 'outvoted', 1_000)
    expect(afterFailure(outvoted, 'behind', 1_001)).toEqual(outvoted)
    expect(afterFailure(afterFailure(fresh(0), 'unavailable', 1_000), 'outvoted', 1_001)).toMatchObject({
      restUntil: 301_001,
      reason: 'outvoted',
    })
  })

  it('does not let a node off for an answer that was asked for before it was sent to rest', () => {
    const outvoted = afterFailure(fresh(0), 'outvoted', 1_000)
    expect(afterSuccess(outvoted, 1_001)).toEqual(outvoted)
  })

  it('rests as long as a node asks for, and long when it is of another chain', () => {
    expect(afterFailure(fresh(0), 'rate_limited', 0, 9_000).restUntil).toBe(9_000)
    expect(afterFailure(fresh(0), 'wrong_chain', 0).restUntil).toBe(60_000)
  })

  it('asks whichever does not rest, in the configured order', () => {
    const healths = [afterFailure(fresh(0), 'unavailable', 0), fresh(0), fresh(0)]
    expect(candidates(healths, 100)).toEqual([1, 2])
    expect(candidates(healths, 250)).toEqual([0, 1, 2])
  })

  it('lets those vote that rest for what they answered, and not those that do not answer', () => {
    const healths = (['outvoted', 'stalled', 'unavailable', 'wrong_chain'] as const).map(reason => afterFailure(fresh(0), reason, 0))
    expect(voters([...healths, fresh(0)], 100)).toEqual([0, 1, 4])
  })

  it('knows how long the head has stood still', () => {
    const health = afterHead(fresh(0), 7, 10)
    expect(standsStill(fresh(0), 90_000, 60_000)).toBe(false)
    expect(standsStill(afterHead(health, 7, 50_000), 60_000, 60_000)).toBe(false)
    expect(standsStill(afterHead(health, 7, 50_000), 60_011, 60_000)).toBe(true)
    expect(standsStill(afterHead(health, 8, 50_000), 60_011, 60_000)).toBe(false)
  })
})
