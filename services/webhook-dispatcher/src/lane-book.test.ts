import { FIRST_WIDTH } from './lane'
import { createLaneBook } from './lane-book'

const healthy = { slow: false, failStreak: 0 }
const ok = { delivered: true, durationMs: 10 }

/** A lane with so many deliveries in flight since `nowMs`. */
function busy(book: ReturnType<typeof createLaneBook>, merchantId: string, count: number, nowMs = 0, memory = healthy) {
  const lane = book.hold(merchantId, `token of ${merchantId}`, memory, nowMs)
  return { lane, flights: Array.from({ length: count }, () => book.start(lane, nowMs)) }
}

describe('slots', () => {
  it('a quarter is for slow lanes, whatever the others need', () => {
    const book = createLaneBook(16)
    busy(book, 'a', 12)
    expect(book.free(0)).toEqual({ quick: 0, slow: 4 })
    for (const name of ['b', 'c', 'd', 'e']) busy(book, name, 1, 0, { slow: true, failStreak: 0 })
    expect(book.free(0)).toEqual({ quick: 0, slow: 0 })
  })

  it('an attempt that overruns two seconds leaves its slot to others, and its lane is slow', () => {
    const book = createLaneBook(16)
    const { lane } = busy(book, 'hangs', 8)
    expect(book.free(2_000).quick).toBe(4)
    expect(book.free(2_001)).toEqual({ quick: 12, slow: 0 })
    expect(lane.health).toMatchObject({ slow: true, width: 1 })
    expect(book.refills(2_001, 12)).toEqual([])
  })

  it('overruns are bounded: with four times the slots under way nothing more is claimed', () => {
    const book = createLaneBook(4)
    busy(book, 'a', 16)
    expect(book.free(10_000)).toEqual({ quick: 0, slow: 0 })
  })

  it('are free when the attempt ends; results that nobody can write stop the claiming', () => {
    const book = createLaneBook(4)
    const { flights } = busy(book, 'a', 16)
    for (const flight of flights) book.end(flight, ok)
    expect(book.free(0)).toEqual({ quick: 0, slow: 0 })
    expect(book.inFlight()).toBe(16)
    for (const flight of flights) book.land(flight)
    expect([book.free(0), book.inFlight()]).toEqual([{ quick: 3, slow: 1 }, 0])
  })

  it('are given back once, however often a result is written', () => {
    const book = createLaneBook(8)
    const { lane, flights } = busy(book, 'a', 2)
    const [flight] = flights
    if (flight) {
      book.end(flight, ok)
      book.land(flight)
      book.land(flight)
    }
    expect([lane.inFlight, book.inFlight()]).toEqual([1, 1])
  })
})

describe('a held lane', () => {
  it('is refilled up to its width, within what is free but for the reserve', () => {
    const book = createLaneBook(128)
    const { lane } = busy(book, 'a', 3)
    expect(book.refills(0, 96)).toEqual([{ lane, want: FIRST_WIDTH - 3 }])
    lane.asked = false
    expect(book.refills(0, 4)).toEqual([{ lane, want: 2 }])
  })

  it('is not asked for twice at once', () => {
    const book = createLaneBook(128)
    busy(book, 'a', 1)
    expect(book.refills(0, 96)).toHaveLength(1)
    expect(book.refills(0, 96)).toHaveLength(0)
    expect(book.releasable(0)).toHaveLength(0)
  })

  it('takes turns: after two seconds it is refilled no more and goes back when it is empty', () => {
    const book = createLaneBook(128)
    const { lane, flights } = busy(book, 'a', 1)
    expect(book.refills(2_001, 96)).toEqual([])
    expect(book.releasable(2_001)).toEqual([])
    for (const flight of flights) {
      book.end(flight, ok)
      book.land(flight)
    }
    expect(book.releasable(2_001)).toEqual([lane])
  })

  it('goes back when nothing more is due and nothing is in flight', () => {
    const book = createLaneBook(128)
    const { lane } = busy(book, 'a', 0)
    expect(book.releasable(0)).toEqual([])
    lane.drained = true
    expect(book.hasReleasable(0)).toBe(true)
    expect(book.releasable(0)).toEqual([lane])
    book.forget(lane)
    expect(book.held()).toBe(0)
  })

  it('renews its lease long before it ends', () => {
    const book = createLaneBook(128)
    const { lane } = busy(book, 'a', 1)
    expect(book.renewable(15_000)).toEqual([])
    expect(book.renewable(15_001)).toEqual([lane])
  })
})
