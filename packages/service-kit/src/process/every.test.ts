import { silentLogger } from '../observe/logger'
import { every } from './every'
import { until } from './service'

const HOUR = 3_600_000

describe('work that repeats', () => {
  it('runs at start and at every interval, never twice at once', async () => {
    let now = 0
    let most = 0
    let runs = 0
    const loop = every(
      'work',
      1,
      async () => {
        most = Math.max(most, ++now)
        await new Promise(resolve => setTimeout(resolve, 2))
        now--
        runs++
      },
      silentLogger,
    )
    await loop.start?.()
    await until(() => {
      loop.wake()
      return runs >= 5
    }, 'it does not repeat')
    await loop.stop?.()
    expect(most).toBe(1)
    expect(now).toBe(0)
  })

  it('runs once more when it is woken during a run, and not more often', async () => {
    const releases: (() => void)[] = []
    const loop = every('work', HOUR, () => new Promise<void>(resolve => releases.push(resolve)), silentLogger)
    await loop.start?.()
    await until(() => releases.length === 1, 'it did not start')
    loop.wake()
    loop.wake()
    releases[0]?.()
    await until(() => releases.length === 2, 'the wake was lost')
    releases[1]?.()
    await until(async () => (await loop.busy?.()) === false, 'it did not rest')
    expect(releases.length).toBe(2)
    loop.wake()
    expect(releases.length).toBe(3)
    releases[2]?.()
    await loop.stop?.()
  })

  it('goes on at once while the work reports that there is more', async () => {
    let left = 4
    const loop = every('work', HOUR, async () => --left > 0, silentLogger)
    await loop.start?.()
    await until(() => left === 0, 'it stopped early')
    await loop.stop?.()
  })

  it('logs a failure and tries again at the next turn', async () => {
    let runs = 0
    const logged: string[] = []
    const logger = { ...silentLogger, error: (message: string) => void logged.push(message) }
    const loop = every(
      'work',
      1,
      async () => {
        if (++runs === 1) throw new Error('once')
      },
      logger,
    )
    await loop.start?.()
    await until(() => runs >= 2, 'it did not try again')
    await loop.stop?.()
    expect(logged).toEqual(['work failed and will be tried again'])
  })

  it('waits for the running turn when it stops, aborts it by the signal, and never runs again', async () => {
    let ended = false
    let aborted = false
    let runs = 0
    const loop = every(
      'work',
      1,
      async signal => {
        runs++
        await new Promise<void>(resolve => signal.addEventListener('abort', () => setTimeout(resolve, 5)))
        aborted = signal.aborted
        ended = true
      },
      silentLogger,
    )
    await loop.start?.()
    await until(() => runs === 1, 'it did not start')
    await loop.stop?.()
    expect([ended, aborted]).toEqual([true, true])
    loop.wake()
    expect(runs).toBe(1)
  })
})
