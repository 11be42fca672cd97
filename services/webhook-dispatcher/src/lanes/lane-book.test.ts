import { afterAttempt, type DeliveryResult } from '../delivery/delivery'
import type { InFlight } from './lane'
import { createLaneBook } from './lane-book'

const healthy = { slow: false, failStreak: 0 }
/** Of a lane that has answered a few times. */
const WIDTH = 8
const ok = { delivered: true, durationMs: 10 }

/** A lane with so many deliveries in flight since `nowMs`. */
function busy(book: ReturnType<typeof createLaneBook>, endpointId: string, count: number, nowMs = 0, memory = healthy) {
  const lane = book.hold(endpointId, `token of ${endpointId}`, memory, nowMs)
  if (!memory.slow) lane.health = { ...lane.health, width: WIDTH }
  return { lane, sent: Array.from({ length: count }, (_, n) => book.start(lane, `${endpointId}${n}`, nowMs)) }
}

const result = (id: string): DeliveryResult => ({
  id,
  verdict: afterAttempt({ attempts: 0, losses: 0 }, { kind: 'delivered', status: 200 }),
  attempt: null,
  error: null,
})
const completion = (inFlight: InFlight | undefined) => {
  if (!inFlight) throw new Error('Nothing is in flight.')
  return { inFlight, result: result(inFlight.deliveryId) }
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
    expect(book.steps(2_001, [])).toEqual([])
  })

  it('an attempt that takes over 100 ms gives its slot away while few are free, and its lane gets no more until those have ended, whatever else of it is answered', () => {
    const book = createLaneBook(16)
    const { lane, sent } = busy(book, 'hangs', 11)
    lane.health = { ...lane.health, width: 20 }
    expect(book.free(100).quick).toBe(1)
    // As many as leave a quarter of them free.
    expect(book.free(101).quick).toBe(3)
    book.arrive('hangs')
    expect([book.needsStep(101), book.steps(101, [])]).toEqual([false, []])
    const wanted = (inFlight: InFlight | undefined) => {
      if (inFlight) book.end(inFlight, ok)
      return book.steps(101, [completion(inFlight)]).map(({ next }) => next)
    }
    const [first, second, third] = sent
    expect([wanted(third), wanted(first)]).toEqual([[{ want: 0 }], [{ want: 0 }]])
    expect(wanted(second)).toEqual([{ want: expect.any(Number) }])
    expect(lane.yielded).toBe(0)
    expect(book.free(2_001)).toEqual({ quick: 12, slow: 0 })
    expect(lane.health).toMatchObject({ slow: true, width: 1 })
  })

  it('slots are given away once over: then those in time are waited for', () => {
    const book = createLaneBook(16)
    for (let round = 0; round < 4; round++) {
      const { quick } = book.free(1_000)
      busy(book, `hangs ${round}`, quick, 0)
    }
    expect(book.free(1_000).quick).toBe(3)
    busy(book, 'more', 9, 0)
    expect(book.free(1_000).quick).toBe(0)
    expect(book.free(2_001).quick).toBe(12)
  })

  it('overruns are bounded: with four times the slots under way nothing more is claimed', () => {
    const book = createLaneBook(4)
    busy(book, 'a', 16)
    expect(book.free(10_000)).toEqual({ quick: 0, slow: 0 })
  })

  it('are free when the attempt ends; results that cannot be written stop the claiming', () => {
    const book = createLaneBook(4)
    const { sent } = busy(book, 'a', 16)
    for (const each of sent) book.end(each, ok)
    expect(book.free(0)).toEqual({ quick: 0, slow: 0 })
    expect(book.inFlight()).toBe(16)
    for (const each of sent) book.complete(each)
    expect([book.free(0), book.inFlight()]).toEqual([{ quick: 3, slow: 1 }, 0])
  })

  it('are given back once, however often a result is written', () => {
    const book = createLaneBook(8)
    const { lane, sent } = busy(book, 'a', 2)
    const [first] = sent
    if (first) {
      book.end(first, ok)
      book.complete(first)
      book.complete(first)
    }
    expect([lane.inFlight.size, book.inFlight()]).toEqual([1, 1])
  })
})

describe('a held lane', () => {
  it('is refilled up to its width when a result is written, within what is free but for the reserve', () => {
    const wide = createLaneBook(128)
    const a = busy(wide, 'a', 3)
    expect(wide.steps(0, [completion(a.sent[0])])).toEqual([
      { lane: a.lane, results: [result('a0')], remaining: ['a1', 'a2'], next: { want: WIDTH - 2 } },
    ])
    const narrow = createLaneBook(8)
    const b = busy(narrow, 'b', 4)
    expect(narrow.steps(0, [completion(b.sent[0])])).toMatchObject([{ next: { want: 2 } }])
  })

  it('is refilled up to what its endpoint allows, if that is less than its width', () => {
    const book = createLaneBook(128)
    const { lane, sent } = busy(book, 'a', 2)
    book.limit(lane, 3)
    expect(book.steps(0, [completion(sent[0])])).toMatchObject([{ remaining: ['a1'], next: { want: 2 } }])
    book.limit(lane, 1)
    book.arrive('a')
    expect([book.needsStep(0), book.steps(0, [])]).toEqual([false, []])
    book.limit(lane, null)
    expect(book.needsStep(0)).toBe(true)
  })

  it('shares evenly with the others, and what one has no room for goes to those after it', () => {
    const wants = (limit: number) => {
      const book = createLaneBook(20)
      const lanes = ['a', 'b', 'c'].map(name => busy(book, name, 0).lane)
      if (lanes[0]) book.limit(lanes[0], limit)
      return book.steps(0, []).map(({ next }) => next)
    }
    expect(wants(8)).toEqual([{ want: 5 }, { want: 4 }, { want: 4 }])
    expect(wants(1)).toEqual([{ want: 1 }, { want: 6 }, { want: 6 }])
  })

  it('is claimed as many more as ended before, since about as many end meanwhile, up to the slow quarter', () => {
    const more = (ended: number) => {
      const book = createLaneBook(160)
      const { lane, sent } = busy(book, 'a', 60)
      const over = sent.slice(0, ended)
      for (const each of over) book.end(each, ok)
      lane.health = { ...lane.health, width: 1_000 }
      book.limit(lane, 1_000)
      const [step] = book.steps(0, over.map(completion))
      const wanted = step && 'want' in step.next ? step.next.want : 0
      return wanted - (120 - 60 + ended - 15)
    }
    expect([10, 20, 39].map(more)).toEqual([10, 20, 39])
    expect([40, 50].map(more)).toEqual([40, 40])
  })

  it('is claimed nothing ahead of time while no slot is free', () => {
    const book = createLaneBook(16)
    const { sent } = busy(book, 'a', 16)
    const [first] = sent
    if (first) book.end(first, ok)
    expect(book.steps(0, [completion(first)])).toMatchObject([{ next: { want: 0 } }])
  })

  it('is left alone while its results are on their way', () => {
    const book = createLaneBook(128)
    busy(book, 'a', 1)
    expect(book.steps(0, [])).toEqual([])
  })

  it('takes turns: after two seconds it is refilled no more and goes back with its last result', () => {
    const book = createLaneBook(128)
    const { lane } = busy(book, 'a', 0)
    const sent = ['a0', 'a1'].map(id => book.start(lane, id, 1_000))
    expect(book.steps(2_001, [completion(sent[0])])).toMatchObject([{ remaining: ['a1'], next: { want: 0 } }])
    const [first] = sent
    if (first) book.complete(first)
    expect(book.steps(2_001, [completion(sent[1])])).toMatchObject([{ remaining: [], next: { slow: false, failStreak: 0 } }])
  })

  it('goes back when nothing more is due and nothing is in flight', () => {
    const book = createLaneBook(128)
    const { lane } = busy(book, 'a', 0)
    expect(book.steps(0, [])).toMatchObject([{ next: { want: WIDTH } }])
    lane.drained = true
    expect(book.needsStep(0)).toBe(true)
    expect(book.steps(0, [])).toMatchObject([{ next: { slow: false, failStreak: 0 } }])
    book.forget(lane)
    expect([book.needsStep(0), book.steps(0, [])]).toEqual([false, []])
  })

  describe('where something arrived', () => {
    const arrived = (slots: number, inFlight: number, nowMs = 0) => {
      const book = createLaneBook(slots)
      const { lane } = busy(book, 'a', inFlight)
      lane.drained = true
      expect(book.needsStep(nowMs)).toBe(false)
      expect(book.arrive('a')).toBe(true)
      return { book, lane }
    }

    it('is topped up to its width, once', () => {
      const { book } = arrived(128, 3)
      expect(book.needsStep(0)).toBe(true)
      expect(book.steps(0, [])).toMatchObject([{ results: [], remaining: ['a0', 'a1', 'a2'], next: { want: WIDTH - 3 } }])
      expect([book.needsStep(0), book.steps(0, [])]).toEqual([false, []])
    })

    it('is left alone when it is full, slow, held for its turn, or when no slot is free', () => {
      expect(arrived(128, WIDTH).book.needsStep(0)).toBe(false)
      const slow = arrived(128, 1)
      slow.lane.health = { slow: true, failStreak: 0, width: 1 }
      expect(slow.book.needsStep(0)).toBe(false)
      expect(arrived(128, 1).book.needsStep(2_001)).toBe(false)
      const { book } = arrived(4, 3)
      expect([book.needsStep(0), book.steps(0, [])]).toEqual([false, []])
    })

    it('is looked at again a moment after its last claim: another replica may have stored an event', () => {
      const book = createLaneBook(128)
      const { lane } = busy(book, 'a', 1)
      lane.drained = true
      expect(book.needsStep(249)).toBe(false)
      expect(book.needsStep(250)).toBe(true)
    })

    it('of a merchant whose lane is not held, the caller looks for the lane', () => {
      expect(createLaneBook(128).arrive('b')).toBe(false)
    })
  })

  it('renews its lease long before it ends', () => {
    const book = createLaneBook(128)
    const { lane } = busy(book, 'a', 1)
    expect(book.renewable(15_000)).toEqual([])
    expect(book.renewable(15_001)).toEqual([lane])
  })
})
