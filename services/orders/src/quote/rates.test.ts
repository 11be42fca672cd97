import { silentLogger } from '@ponte/service-kit'
import { openRates } from './rates'
import type { RateSource } from './source'

const HOUR_S = 3_600
const limits = { minMicros: 1_000_000n, maxMicros: 50_000_000n, maxSpreadBps: 150 }

it('a rate lasts as long as its source allows, however old a round of the feed may be', async () => {
  let now = new Date('2026-11-20T12:00:00Z')
  const round = { source: 'feed', rateMicros: 5_420_000n, asOf: new Date(now.getTime() - 20 * HOUR_S * 1_000), maxAgeS: 25 * HOUR_S }
  const feed: RateSource = { name: 'feed', observe: async () => round }
  const rates = openRates([feed], { ...limits, refreshMs: HOUR_S * 1_000, now: () => now, logger: silentLogger })
  expect(rates.lastsS()).toBe(0)
  await rates.start?.()
  try {
    expect([rates.ageS(), rates.lastsS()]).toEqual([20 * HOUR_S, 5 * HOUR_S])
    now = new Date(now.getTime() + 6 * HOUR_S * 1_000)
    expect([rates.ageS(), rates.lastsS()]).toEqual([Number.POSITIVE_INFINITY, 0])
  } finally {
    await rates.stop?.()
  }
})
