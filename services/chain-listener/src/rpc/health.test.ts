import { afterFailure, afterSilence, afterSuccess, byPreference, fresh, type Health, mayVote, patienceMs, rests } from './health'

describe('the health of a node', () => {
  it('sends a failing node to rest, longer each time, and forgives it when it answers', () => {
    const once = afterFailure(fresh(), 'unavailable', 1_000)
    expect(once.restUntil).toBe(1_250)
    const twice = afterFailure(once, 'unavailable', once.restUntil)
    expect(twice.restUntil - once.restUntil).toBe(500)
    const often = Array.from({ length: 20 }).reduce((health: Health) => afterFailure(health, 'unavailable', health.restUntil), once)
    const again = afterFailure(often, 'unavailable', often.restUntil)
    expect(again.restUntil - often.restUntil).toBe(60_000)
    expect(afterSuccess(again, again.restUntil, 5)).toMatchObject({ failures: 0, restUntil: 0, reason: null })
  })

  it('counts requests that fail together as one failure', () => {
    const together = Array.from({ length: 8 }).reduce((health: Health) => afterFailure(health, 'unavailable', 1_000), fresh())
    expect(together).toMatchObject({ failures: 1, restUntil: 1_250 })
  })

  it('lets no later failure shorten a rest, and a graver one lengthen it', () => {
    const outvoted = afterFailure(fresh(), 'outvoted', 1_000)
    expect(afterFailure(outvoted, 'behind', 1_001)).toEqual(outvoted)
    expect(afterFailure(afterFailure(fresh(), 'unavailable', 1_000), 'outvoted', 1_001)).toMatchObject({
      restUntil: 301_001,
      reason: 'outvoted',
    })
  })

  it('does not let a node off for an answer that was asked for before it was sent to rest', () => {
    const outvoted = afterFailure(fresh(), 'outvoted', 1_000)
    expect(rests(afterSuccess(outvoted, 1_001, 5), 1_001)).toBe(true)
  })

  it('rests as long as a node asks for, and long when it is of another chain', () => {
    expect(afterFailure(fresh(), 'rate_limited', 0, 9_000).restUntil).toBe(9_000)
    expect(afterFailure(fresh(), 'wrong_chain', 0).restUntil).toBe(60_000)
  })

  it('lets those vote that rest for what they answered, and not those that do not answer', () => {
    const healths = (['outvoted', 'stalled', 'unavailable', 'wrong_chain'] as const).map(reason => afterFailure(fresh(), reason, 0))
    expect([...healths, fresh()].map(health => mayVote(health, 100))).toEqual([true, true, false, false, true])
  })
})

describe('which node is asked first', () => {
  const took = (ms: number, now = 0) => afterSuccess(fresh(), now, ms)
  const order = (healths: readonly Health[], now = 0) => byPreference([...healths.keys()], index => healths[index] ?? fresh(), now)

  it('is the configured order, as long as none is much slower than the fastest', () => {
    expect(order([fresh(), took(10), took(200)])).toEqual([0, 1, 2])
    expect(order([took(5_000), took(40), fresh()])).toEqual([1, 2, 0])
    expect(order([took(900), took(700)])).toEqual([0, 1])
  })

  it('is forgotten after a minute, so that a node that was slow is tried again', () => {
    expect(order([took(5_000), took(40, 60_001)], 60_002)).toEqual([0, 1])
  })

  it('counts silence as the time that it lasted', () => {
    expect(order([afterSilence(took(10), 0, 1_500), took(40)])).toEqual([1, 0])
  })

  it('comes with a patience that follows the fastest of them', () => {
    expect([patienceMs(undefined), patienceMs(20), patienceMs(500), patienceMs(9_000)]).toEqual([1_000, 500, 1_500, 5_000])
  })
})
