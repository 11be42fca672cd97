import { every, type Logger, type Part } from '@ponte/service-kit'
import { type Observation, type Quote, type QuoteLimits, quote, usable } from './quote'
import type { RateSource } from './source'

export interface Rates extends Part {
  /** The quote of this moment, from memory. Throws `rate_unavailable`. */
  current(): Quote
  refresh(): Promise<void>
  /** In seconds; infinite when nothing can be priced. */
  ageS(): number
  /** For how many seconds it prices orders yet when no source answers any more; 0 when nothing can be priced. */
  lastsS(): number
}

/**
 * Keeps the last word of each source and asks them in the background, so that no request ever waits for one.
 * Without a rate the service is still ready: orders can be read, paid and cancelled.
 */
export function openRates(
  sources: readonly RateSource[],
  options: QuoteLimits & { refreshMs: number; now: () => Date; logger: Logger },
): Rates {
  const latest = new Map<string, Observation>()
  const refresh = async () => {
    await Promise.all(
      sources.map(source =>
        source.observe().then(
          observation => latest.set(source.name, observation),
          error => options.logger.warn('an exchange rate source did not answer', { source: source.name, error }),
        ),
      ),
    )
  }
  const loop = every('rates', options.refreshMs, refresh, options.logger)
  const current = () => quote([...latest.values()], options, options.now())
  return {
    name: 'rates',
    current,
    refresh,
    ageS() {
      try {
        return (options.now().getTime() - current().asOf.getTime()) / 1000
      } catch {
        return Number.POSITIVE_INFINITY
      }
    },
    lastsS() {
      try {
        current()
      } catch {
        return 0
      }
      const now = options.now()
      const ends = usable([...latest.values()], options, now).map(({ asOf, maxAgeS }) => asOf.getTime() / 1000 + maxAgeS)
      return Math.max(...ends) - now.getTime() / 1000
    },
    async start() {
      await refresh()
      await loop.start?.()
    },
    async stop() {
      await loop.stop?.()
    },
  }
}
