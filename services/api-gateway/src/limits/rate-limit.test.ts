import { type Lease, localLimit, sharedLimit, WINDOW_MS } from './rate-limit'

/** The database's rule, in memory: an eighth of the rest, at least one. */
function sharedWindow(limit: number, clock: () => number) {
  let used = 0
  let window = -1
  let asked = 0
  return {
    asked: () => asked,
    async lease(): Promise<Lease> {
      asked += 1
      const number = Math.floor(clock() / WINDOW_MS)
      if (number !== window) [window, used] = [number, 0]
      const granted = Math.min(limit - used, Math.max(1, Math.floor((limit - used) / 8)))
      used += granted
      return { granted, remaining: limit - used, resetsInMs: WINDOW_MS - (clock() % WINDOW_MS) }
    },
  }
}

const time = { ms: 0 }
const clock = () => time.ms

test.each([1, 7, 8, 100, 6000])('three replicas together let no more than %i through in a window, and nearly all of it', async limit => {
  const window = sharedWindow(limit, clock)
  const replicas = [1, 2, 3].map(() => sharedLimit(limit, window.lease, clock))
  let allowed = 0
  for (let n = 0; n < limit * 2 + 20; n++) {
    const verdict = await replicas[n % 3]?.('bucket')
    if (verdict?.allowed) allowed += 1
  }
  expect(allowed).toBe(limit)
  expect(window.asked()).toBeLessThan(120)
})

test('a replica that is over the limit does not ask the database until the window ends', async () => {
  const window = sharedWindow(3, clock)
  const take = sharedLimit(3, window.lease, clock)
  for (let n = 0; n < 100; n++) await take('bucket')
  expect(window.asked()).toBe(3)
  expect(await take('bucket')).toMatchObject({ allowed: false, remaining: 0, limit: 3 })
  time.ms += WINDOW_MS
  expect(await take('bucket')).toMatchObject({ allowed: true })
})

test('requests at one moment share one lease and still keep to the limit', async () => {
  const window = sharedWindow(20, clock)
  const take = sharedLimit(20, window.lease, clock)
  const verdicts = await Promise.all(Array.from({ length: 50 }, () => take('bucket')))
  expect(verdicts.filter(verdict => verdict.allowed)).toHaveLength(20)
})

test('a lease that cannot be had fails the request, and the next one asks again', async () => {
  let broken = true
  const take = sharedLimit(
    5,
    async () => {
      if (broken) throw new Error('no database')
      return { granted: 1, remaining: 4, resetsInMs: 1000 }
    },
    clock,
  )
  await expect(take('bucket')).rejects.toThrow('no database')
  broken = false
  expect((await take('bucket')).allowed).toBe(true)
})

test('the limit of a replica alone counts each bucket apart and starts anew after a minute', () => {
  const take = localLimit(2, clock)
  expect([take('a'), take('a'), take('a'), take('b')].map(verdict => verdict.allowed)).toEqual([true, true, false, true])
  time.ms += WINDOW_MS
  expect(take('a')).toMatchObject({ allowed: true, remaining: 1, resetsInMs: WINDOW_MS })
})
