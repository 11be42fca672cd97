import { silentLogger } from '../observe/logger'
import { UnknownMessageError } from '../retryable'
import { createHandling, createRetryLog, handBackWait, handle } from './handling'

const message = (handedBackAt?: number) => ({ id: 'e', type: 'newer.type', body: '{}', ...(handedBackAt ? { handedBackAt } : {}) })

it('what is handed back waits twice as long each time, up to a minute', () => {
  const waits: number[] = []
  for (let now = 1_000_000; waits.length < 7; now += waits.at(-1) ?? 0)
    waits.push(handBackWait(waits.length === 0 ? message() : message(1_000_000), 5_000, now))
  expect(waits).toEqual([5_000, 5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
})

it('five hundred messages that wait for a newer version are one line a turn', () => {
  const lines: object[] = []
  let now = 0
  const log = createRetryLog({ ...silentLogger, warn: (_, fields) => void lines.push(fields ?? {}) }, () => now)
  for (let turn = 0; turn < 2; turn += 1, now += 60_000) for (let n = 0; n < 500; n += 1) log.handedBack(new Error('unknown'))
  expect(lines).toMatchObject([{ messages: 1 }, { messages: 500 }])
})

it('a message that is unknown is named once to who waits for it, and handed back after', async () => {
  const named: string[] = []
  const handling = createHandling(
    async () => {
      throw new UnknownMessageError('No event is called newer.type here.')
    },
    1,
    {
      signal: new AbortController().signal,
      logger: silentLogger,
      retryLog: createRetryLog(silentLogger),
      onDead: async ({ id }) => void named.push(id),
    },
  )
  expect(await handle(message(), handling)).toBe('later')
  expect(await handle(message(Date.now() - 5_000), handling)).toBe('later')
  expect(named).toEqual(['e'])
})
