import { confirmedTimeOf, type History, isCertain, knownThrough, standsStill, watermarkOf } from './history'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000)
const history = (change: Partial<History> = {}): History => ({
  since: 10,
  ranges: [],
  advances: [],
  leases: [],
  confirmedTime: null,
  ...change,
})
const LATEST = at(1_000)

describe('the watermark', () => {
  it.each([
    ['nothing is known', [], null],
    ['the range that holds the first block of the generation', [[10, 19]], 19],
    [
      'a gap stops it, whatever is known beyond',
      [
        [10, 19],
        [21, 30],
      ],
      19,
    ],
    ['what lies beyond a gap at the beginning is not it', [[11, 30]], null],
    ['a range from before the generation counts too', [[0, 30]], 30],
  ] as const)('%s', (_, ranges, expected) => expect(watermarkOf({ since: 10, ranges })).toBe(expected))
})

describe('the confirmed time', () => {
  it('is that of the last range up to the watermark, whichever came first', () => {
    const advances = [
      { toBlock: 30, time: at(30) },
      { toBlock: 19, time: at(19) },
    ]
    expect(
      confirmedTimeOf(
        history({
          ranges: [
            [10, 19],
            [21, 30],
          ],
          advances,
        }),
        LATEST,
      ),
    ).toEqual(at(19))
    expect(confirmedTimeOf(history({ ranges: [[10, 30]], advances }), LATEST)).toEqual(at(30))
  })

  it('never lies ahead of our clock, also not when it was believed before', () => {
    const ahead = [
      { toBlock: 19, time: at(5) },
      { toBlock: 20, time: at(2_000) },
    ]
    expect(confirmedTimeOf(history({ ranges: [[10, 20]], advances: ahead }), LATEST)).toEqual(at(5))
    expect(confirmedTimeOf(history({ ranges: [[10, 20]], advances: ahead, confirmedTime: at(9_000) }), LATEST)).toEqual(at(5))
  })

  it('does not go back, and is nothing where nothing is known', () => {
    expect(
      confirmedTimeOf(history({ ranges: [[10, 19]], advances: [{ toBlock: 19, time: at(5) }], confirmedTime: at(9) }), LATEST),
    ).toEqual(at(9))
    expect(confirmedTimeOf(history(), LATEST)).toBeNull()
  })
})

describe('whether the listener knows all that was read of it', () => {
  it.each([
    ['one lease is open', [{ seenVersion: 9, endedVersion: null }], true],
    [
      'those before it ended where they were seen',
      [
        { seenVersion: 9, endedVersion: 9 },
        { seenVersion: 12, endedVersion: null },
      ],
      true,
    ],
    [
      'one that ended was seen further: its database was put back',
      [
        { seenVersion: 9, endedVersion: 7 },
        { seenVersion: 12, endedVersion: null },
      ],
      false,
    ],
    [
      'two are open: one of them is of a future that was lost',
      [
        { seenVersion: 9, endedVersion: null },
        { seenVersion: 8, endedVersion: null },
      ],
      false,
    ],
  ])('%s', (_, leases, expected) => expect(isCertain(leases)).toBe(expected))
})

it('a network stands still once nothing was confirmed for longer than the setting, and where nothing ever was; 0 is never', () => {
  const still = (confirmed: Date | null, now: number, afterMs: number) => standsStill(confirmed, at(now), afterMs)
  expect([still(at(0), 60, 60_000), still(at(0), 61, 60_000), still(null, 0, 60_000)]).toEqual([false, true, true])
  expect([still(at(0), 1e6, 0), still(null, 0, 0)]).toEqual([false, false])
})

it.each([
  ['one network', [at(50)], 0, at(50)],
  ['one that nothing is known of', [null], 0, null],
  ['the one that is behind', [at(50), at(20), at(90)], 0, at(20)],
  ['one of which nothing is known yet', [at(50), null], 0, null],
  ['those that go on', [at(50), null, at(10), at(90)], 60_000, at(50)],
  ['none, where all of them stand still', [at(10), null], 60_000, null],
])('everything is known up to the time of %s', (_, times, afterMs, expected) => {
  const chains = times.map(time => ({ time, lastTime: time }))
  expect(knownThrough(chains, at(100), afterMs)).toEqual(expected)
})

it('nothing is known while a network that goes on begins another history', () => {
  const chains = [
    { time: at(99), lastTime: at(99) },
    { time: null, lastTime: at(90) },
  ]
  expect(knownThrough(chains, at(100), 60_000)).toBeNull()
  expect(knownThrough(chains, at(200), 120_000)).toBeNull()
  expect(knownThrough(chains, at(151), 60_000)).toEqual(at(99))
})
