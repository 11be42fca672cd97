import type { OrdersConfig } from './config'
import type { Observation } from './quote'

/** Where a rate comes from. `observe` rejects when the source cannot be read; the others still count. */
export interface RateSource {
  name: string
  observe(): Promise<Observation>
}

/** The sources that the settings name. Throws when they name none: nothing could ever be priced. */
export function rateSources(config: OrdersConfig, now: () => Date): RateSource[] {
  const sources: RateSource[] = []
  const fixed = config.RATE_STATIC
  if (fixed !== undefined) {
    sources.push({ name: 'static', observe: async () => ({ source: 'static', rateMicros: fixed, asOf: now() }) })
  }
  if (sources.length === 0) throw new Error('No exchange rate source is set: set RATE_STATIC, or another RATE_ setting of the README.')
  return sources
}
