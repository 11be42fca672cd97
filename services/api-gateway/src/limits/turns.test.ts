import fc from 'fast-check'
import { createPresence, createTurns } from './turns'

const LIMITS = { running: 3, contended: 1, waiting: 4 }

function scene() {
  let now = 0
  const turns = createTurns(
    LIMITS,
    createPresence(() => now),
  )
  const running = new Map<string, number>()
  const count = (bucket: string) => running.get(bucket) ?? 0
  return {
    count,
    pass: (ms: number) => {
      now += ms
    },
    /** Answers what ends the request; null when it was refused. */
    ask(bucket: string) {
      let isRunning = false
      const end = turns.take(bucket, () => {
        isRunning = true
        running.set(bucket, count(bucket) + 1)
      })
      return end
        ? {
            isRunning: () => isRunning,
            end() {
              if (isRunning) running.set(bucket, count(bucket) - 1)
              end()
            },
          }
        : null
    },
  }
}
type Scene = ReturnType<typeof scene>
const askMany = ({ ask }: Scene, bucket: string, times: number) => Array.from({ length: times }, () => ask(bucket))

test('who asks alone is served as much at once as may be, and what waits in turn', () => {
  const world = scene()
  const noisy = askMany(world, 'noisy', 7)
  expect(noisy.map(one => one?.isRunning())).toEqual([true, true, true, false, false, false, false])
  noisy[1]?.end()
  expect(noisy.map(one => one?.isRunning())).toEqual([true, true, true, true, false, false, false])
})

test('while others ask, who asks for more than may run is served one at a time, and each of the others at once', () => {
  const world = scene()
  const noisy = askMany(world, 'noisy', 7)
  const other = askMany(world, 'other', 3)
  expect(other.map(one => one?.isRunning())).toEqual([true, true, true])
  noisy[0]?.end()
  noisy[1]?.end()
  expect(world.count('noisy')).toBe(1)
  noisy[2]?.end()
  expect(world.count('noisy')).toBe(1)
  expect(noisy[3]?.isRunning()).toBe(true)
})

test('a second after the others, it is served at its full speed again', () => {
  const world = scene()
  const noisy = askMany(world, 'noisy', 7)
  world.ask('other')?.end()
  for (const one of noisy.slice(0, 3)) one?.end()
  expect(world.count('noisy')).toBe(1)
  noisy.push(...askMany(world, 'noisy', 3))
  world.pass(1_000)
  noisy[3]?.end()
  expect(world.count('noisy')).toBe(3)
})

test('two who ask for too much do not hold each other up', () => {
  const world = scene()
  const first = askMany(world, 'first', 7)
  const second = askMany(world, 'second', 7)
  world.pass(1_000)
  for (const one of [...first.slice(0, 3), ...second.slice(0, 3)]) one?.end()
  expect([world.count('first'), world.count('second')]).toEqual([3, 3])
})

test('what is too many is refused, and what goes away while it waits leaves room', () => {
  const world = scene()
  const noisy = askMany(world, 'noisy', 8)
  expect(noisy[7]).toBeNull()
  noisy[6]?.end()
  expect(world.count('noisy')).toBe(3)
  expect(world.ask('noisy')).not.toBeNull()
})

test('a clock that is put back does not make the others present for as long', () => {
  const world = scene()
  world.ask('other')?.end()
  world.pass(-60_000)
  const noisy = askMany(world, 'noisy', 7)
  noisy[0]?.end()
  expect(world.count('noisy')).toBe(3)
})

test('whatever comes and goes: no bucket beyond its bound, who asks for little is served at once, and who waits has something running', () => {
  const step = fc.record({
    bucket: fc.constantFrom('a', 'b', 'c'),
    what: fc.constantFrom('ask', 'ask', 'ask', 'end', 'end', 'pass'),
    pick: fc.nat(20),
    ms: fc.constantFrom(1, 400, 1_500),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), steps => {
      const world = scene()
      const open = new Map<string, NonNullable<ReturnType<Scene['ask']>>[]>()
      for (const { bucket, what, pick, ms } of steps) {
        const mine = open.get(bucket) ?? []
        open.set(bucket, mine)
        if (what === 'pass') world.pass(ms)
        if (what === 'end') mine.splice(pick % (mine.length || 1), 1)[0]?.end()
        if (what !== 'ask') continue
        const one = world.ask(bucket)
        expect(one === null).toBe(mine.length === LIMITS.running + LIMITS.waiting)
        if (one) mine.push(one)
        if (mine.length <= LIMITS.running) expect(one?.isRunning()).toBe(true)
        for (const [name, all] of open) {
          expect(world.count(name)).toBe(all.filter(each => each.isRunning()).length)
          expect(world.count(name)).toBeLessThanOrEqual(LIMITS.running)
          expect(world.count(name)).toBeGreaterThanOrEqual(Math.min(all.length, LIMITS.contended))
        }
      }
    }),
  )
})
