import { chainlinkRate } from './chainlink-rate'
import { type HttpRateSettings, httpRate } from './http-rate'
import type { RateSource } from './source'

export interface RateSettings {
  RATE_STATIC?: bigint | undefined
  RATE_CHAINLINK_RPC_URL?: string | undefined
  RATE_CHAINLINK_ADDRESS?: string | undefined
  RATE_CHAINLINK_MAX_AGE_S?: number | undefined
  RATE_HTTP_SOURCES: readonly HttpRateSettings[]
  RATE_MAX_AGE_S: number
  BLOCK_TIME_AHEAD_MAX_S: number
}

/** The sources that the settings name: at least one, which the settings demand. */
export function rateSources(config: RateSettings, now: () => Date): RateSource[] {
  const { RATE_STATIC: rateMicros, RATE_CHAINLINK_RPC_URL: rpcUrl, RATE_CHAINLINK_ADDRESS: address, RATE_MAX_AGE_S: maxAgeS } = config
  const sources: RateSource[] = config.RATE_HTTP_SOURCES.map(settings => httpRate(settings, { now, maxAgeS }))
  if (rateMicros !== undefined)
    sources.push({ name: 'static', observe: async () => ({ source: 'static', rateMicros, asOf: now(), maxAgeS }) })
  if (rpcUrl !== undefined && address !== undefined) {
    const limits = { maxAgeS: config.RATE_CHAINLINK_MAX_AGE_S ?? maxAgeS, aheadMaxS: config.BLOCK_TIME_AHEAD_MAX_S }
    sources.push(chainlinkRate({ rpcUrl, address, now, ...limits }))
  }
  return sources
}
