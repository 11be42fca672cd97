import { mayRetry, retryAfterMs, retryDelayMs } from './retry.js'

const outcome = (status: number, code = '') => ({ status, code, retryAfterMs: null })

describe('trying again', () => {
  it.each([
    ['a lost connection', outcome(0, 'connection_failed'), true],
    ['no answer in time', outcome(0, 'timeout'), true],
    ['what the caller aborted', outcome(0, 'aborted'), false],
    ['an answer that is not JSON', outcome(200, 'unexpected_answer'), false],
    ['a first request that still runs', outcome(409, 'idempotency_in_progress'), true],
    ['another conflict', outcome(409, 'not_due'), false],
    ['a refusal', outcome(400, 'invalid_request'), false],
    ['another body for the key', outcome(422, 'idempotency_mismatch'), false],
    ['an owner that does not answer', outcome(503, 'service_unavailable'), true],
    ['a proxy without a gateway', outcome(502), true],
    ['a fault of the API', outcome(500, 'internal_error'), false],
  ])('%s', (_, given, expected) => {
    expect(mayRetry(given, true)).toBe(expected)
    expect(mayRetry(given, false)).toBe(false)
  })

  it('a request that was refused before it began is sent again whatever it is', () => {
    expect(mayRetry(outcome(429, 'rate_limited'), false)).toBe(true)
  })

  it('waits between nothing and a ceiling that doubles, and as long as the API asks, up to a minute', () => {
    expect([0, 1, 2, 9].map(attempt => retryDelayMs(attempt, null, 1))).toEqual([250, 500, 1_000, 8_000])
    expect(retryDelayMs(3, null, 0)).toBe(0)
    expect(retryDelayMs(0, 2_000, 1)).toBe(2_000)
    expect(retryDelayMs(0, 3_600_000, 1)).toBe(60_000)
  })

  it('reads seconds and dates', () => {
    expect(retryAfterMs('2', 0)).toBe(2_000)
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:10 GMT', 4_000)).toBe(6_000)
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:10 GMT', 40_000)).toBe(0)
    expect([retryAfterMs('soon', 0), retryAfterMs(null, 0)]).toEqual([null, null])
  })
})
