import { randomOf } from './random'
import { play, THIEVES } from './thief'

const HOUR = 3_600_000
const guard = { delayMs: 24 * HOUR, unsignedDelayMs: 48 * HOUR, ownerDelayMs: 48 * HOUR, payoutHoldMs: 72 * HOUR }
const SEQUENCES = 10_000

test(`in ${SEQUENCES} sequences no thief is paid, and no owner is out, where owners look within a day`, () => {
  const done = new Map<string, number>()
  const violations: string[] = []
  for (let seed = 0; seed < SEQUENCES; seed++) {
    const outcome = play(THIEVES[seed % THIEVES.length] ?? 'fresh session', randomOf(seed), guard)
    violations.push(...outcome.violations.map(violation => `seed ${seed}: ${violation}`))
    for (const [what, times] of outcome.done) done.set(what, (done.get(what) ?? 0) + times)
  }
  expect(violations).toEqual([])
  // The thieves had something to try: each move was let through many times.
  for (const move of ['invite', 'join', 'setRole', 'remove', 'payout', 'sign', 'cancelPayout', 'undo', 'makeKey', 'putOut'])
    expect([move, (done.get(move) ?? 0) > 100]).toEqual([move, true])
})

test.each([
  ['owners change at once', { ...guard, ownerDelayMs: 0 }, 'is no owner any more'],
  ['a signed address is in force at once', { ...guard, delayMs: 0 }, 'the address of the thief is in force'],
])('the oracle finds it when %s', (_what, weak, violation) => {
  const found = Array.from(
    { length: 300 },
    (_, seed) => play(THIEVES[seed % THIEVES.length] ?? 'fresh session', randomOf(seed), weak).violations,
  )
  expect(found.flat().join('\n')).toContain(violation)
})
