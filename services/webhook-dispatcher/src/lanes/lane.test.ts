import { afterOverrun, afterSend, FIRST_WIDTH, openLane } from './lane'

const quick = { delivered: true, durationMs: 20 }
const times = (count: number, attempt: { delivered: boolean; durationMs: number }, lane = openLane(false, 0)) =>
  Array.from({ length: count }).reduce<ReturnType<typeof openLane>>(state => afterSend(state, attempt), lane)

describe('a lane', () => {
  it('widens while its endpoint keeps up, to a bound', () => {
    expect(times(10, quick).width).toBe(FIRST_WIDTH + 10)
    expect(times(1_000, quick).width).toBe(128)
  })

  it('drops to one in flight when an attempt takes over two seconds, even a delivered one', () => {
    expect(afterSend(openLane(false, 0), { delivered: true, durationMs: 2_001 })).toEqual({ slow: true, failStreak: 0, width: 1 })
    expect(afterOverrun(openLane(false, 3))).toEqual({ slow: true, failStreak: 3, width: 1 })
  })

  it('drops to one in flight after five failures in a row, not after four', () => {
    const failure = { delivered: false, durationMs: 5 }
    expect(times(4, failure)).toMatchObject({ slow: false, failStreak: 4 })
    expect(times(5, failure)).toEqual({ slow: true, failStreak: 5, width: 1 })
  })

  it('recovers by one quick success', () => {
    expect(afterSend(openLane(true, 9), quick)).toEqual({ slow: false, failStreak: 0, width: FIRST_WIDTH + 1 })
  })
})
