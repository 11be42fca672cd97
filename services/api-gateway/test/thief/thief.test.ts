import { createRandom } from '@ponte/service-kit/testing'
import { play, SHOWING, THIEVES } from './thief'

const HOUR = 3_600_000
const guard = { delayMs: 24 * HOUR, unsignedDelayMs: 48 * HOUR, ownerDelayMs: 48 * HOUR, payoutHoldMs: 72 * HOUR, freshLoginMs: HOUR / 12 }
const SEQUENCES = 10_000
type Row = (typeof SHOWING)[number]
const unrecorded = ([id, { audit: _, ...rest }]: Row): Row => [id, rest]

test(`in ${SEQUENCES} sequences no thief is paid, no owner is out, and no secret is read unseen, where owners look within a day`, () => {
  const done = new Map<string, number>()
  const violations: string[] = []
  for (let seed = 0; seed < SEQUENCES; seed++) {
    const outcome = play(THIEVES[seed % THIEVES.length] ?? 'fresh session', createRandom(seed), guard)
    violations.push(...outcome.violations.map(violation => `seed ${seed}: ${violation}`))
    for (const [what, times] of outcome.done) done.set(what, (done.get(what) ?? 0) + times)
  }
  expect(violations).toEqual([])
  // The thieves had something to try: each move was let through many times.
  for (const move of ['invite', 'join', 'setRole', 'remove', 'payout', 'sign', 'cancelPayout', 'undo', 'makeKey', 'seeSecret', 'putOut'])
    expect([move, (done.get(move) ?? 0) > 100]).toEqual([move, true])
})

test.each([
  ['owners change at once', { ...guard, ownerDelayMs: 0 }, 'is no owner any more'],
  ['a signed address is in force at once', { ...guard, delayMs: 0 }, 'the address of the thief is in force'],
  ['no login is old', { ...guard, freshLoginMs: 0 }, 'to an old session'],
  ['what makes a secret is not recorded', guard, 'shows a secret unseen', SHOWING.map(unrecorded)],
] as [string, typeof guard, string, typeof SHOWING?][])('the oracle finds it when %s', (_what, weak, violation, table = SHOWING) => {
  const found = Array.from(
    { length: 300 },
    (_, seed) => play(THIEVES[seed % THIEVES.length] ?? 'fresh session', createRandom(seed), weak, 40, table).violations,
  )
  expect(found.flat().join('\n')).toContain(violation)
})
