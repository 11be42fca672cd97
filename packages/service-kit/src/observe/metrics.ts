import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { withTimeout } from '../with-timeout'

const READ_WAIT_MS = 2_000

/** Every value that a label can have. */
export type LabelValues<L extends string> = Readonly<Record<L, readonly string[]>>

export interface Metrics {
  /** Whose metrics these are. */
  service: string
  registry: Registry
  /** Given the values of its labels, a counter starts at 0 for each of them: one that first appears as 1 escapes `increase()`. */
  counter<L extends string>(name: string, help: string, labels?: readonly L[] | LabelValues<L>): Counter<L>
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
    counter<L extends string>(name: string, help: string, labels: readonly L[] | LabelValues<L> = []) {
      if (isList(labels)) return new Counter({ name, help, labelNames: [...labels], registers })
      const counter = new Counter<string>({ name, help, labelNames: Object.keys(labels), registers })
      for (const known of combinations(labels)) counter.inc(known, 0)
      return counter
    },
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

const isList = <L extends string>(labels: readonly L[] | LabelValues<L>): labels is readonly L[] => Array.isArray(labels)

const combinations = (labels: Readonly<Record<string, readonly string[]>>): Record<string, string>[] =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (known, [label, values]) => known.flatMap(each => values.map(value => ({ ...each, [label]: value }))),
    [{}],
  )

export type { Counter, Gauge, Histogram } from 'prom-client'
