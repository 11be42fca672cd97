import { chainlinkRate } from './chainlink-rate'
import { type HttpRateSettings, httpRate } from './http-rate'
import type { RateSource } from './source'

export interface RateSettings {
  RATE_STATIC?: bigint | undefined
  RATE_CHAINLINK_RPC_URL?: string | undefined
  RATE_CHAINLINK_ADDRESS?: string | undefined
  RATE_HTTP_SOURCES: readonly HttpRateSettings[]
}

/** The sources that the settings name. Throws when they name none: nothing could ever be priced. */
export function rateSources(config: RateSettings, now: () => Date): RateSource[] {
  const { RATE_STATIC: rateMicros, RATE_CHAINLINK_RPC_URL: rpcUrl, RATE_CHAINLINK_ADDRESS: address } = config
  const sources: RateSource[] = config.RATE_HTTP_SOURCES.map(settings => httpRate(settings, now))
  if (rateMicros !== undefined) sources.push({ name: 'static', observe: async () => ({ source: 'static', rateMicros, asOf: now() }) })
  if (rpcUrl !== undefined && address !== undefined) sources.push(chainlinkRate({ rpcUrl, address, now }))
  if (sources.length > 0) return sources
  throw new Error(
    'No exchange rate source is set: set RATE_CHAINLINK_RPC_URL and RATE_CHAINLINK_ADDRESS, RATE_HTTP_SOURCES, RATE_STATIC, or several.',
  )
}
