import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { withTimeout } from '../with-timeout'

const READ_WAIT_MS = 2_000

export interface Metrics {
  /** Whose metrics these are. */
  service: string
  registry: Registry
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>
  gauge<L extends string>(name: string, help: string, labels?: readonly L[]): Gauge<L>
  /** A gauge that asks for its value when it is scraped. A name that is taken keeps its first reader: a service may measure what the kit would. */
  observed(name: string, help: string, read: () => Promise<number> | number): void
  histogram<L extends string>(name: string, help: string, labels?: readonly L[], buckets?: readonly number[]): Histogram<L>
}

/** A registry of its own per service, so that five in one process do not mix. Names are `ponte_…`, units last. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  const registers = [registry]
  return {
    service,
    registry,
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: [...labels], registers }),
    gauge: (name, help, labels = []) => new Gauge({ name, help, labelNames: [...labels], registers }),
    observed(name, help, read) {
      if (registry.getSingleMetric(name)) return
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          // One value that cannot be read, because its database is away, must not hide the others just then.
          this.set(await withTimeout(READ_WAIT_MS, Promise.resolve().then(read), name).catch(() => Number.NaN))
        },
      })
    },
    histogram: (name, help, labels = [], buckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]) =>
      new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers }),
  }
}

export type { Counter, Gauge, Histogram } from 'prom-client'
