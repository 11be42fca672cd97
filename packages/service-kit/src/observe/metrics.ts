import * as prom from 'prom-client'
import { withTimeout } from '../with-timeout'
import { boundedSeries, type Labels } from './series'

const READ_WAIT_MS = 2_000
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Every value that a label can have. */
export type LabelValues<L extends string> = Readonly<Record<L, readonly string[]>>

export interface Counter<L extends string> {
  inc(labels: Labels<L>, value?: number): void
  inc(value?: number): void
}
export interface Gauge<L extends string> {
  set(labels: Labels<L>, value: number): void
  set(value: number): void
  inc(labels: Labels<L>, value?: number): void
  inc(value?: number): void
  reset(): void
}
export interface Histogram<L extends string> {
  observe(labels: Labels<L>, value: number): void
  observe(value: number): void
}

/** None of them holds more series than `SERIES_MAX`, times the values of its closed labels. */
export interface Metrics {
  service: string
  registry: prom.Registry
  /** Given the values of its labels, a counter starts at 0 for each of them: one that first appears as 1 escapes `increase()`. */
  counter<L extends string>(name: string, help: string, labels?: readonly L[] | LabelValues<L>): Counter<L>
  gauge<L extends string>(name: string, help: string, labels?: readonly L[]): Gauge<L>
  /** A gauge that asks for its value when it is scraped. A name that is taken keeps its first reader: a service may measure what the kit would. */
  observed(name: string, help: string, read: () => Promise<number> | number): void
  /** The same with labels: each scrape has the series that are read for it, and no other. */
  observedEach<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    read: () => Promise<readonly (readonly [Labels<L>, number])[]>,
  ): void
  /** `closed` labels have few values, and are kept where the others become `(other)`. */
  histogram<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    buckets?: readonly number[],
    closed?: readonly L[],
  ): Histogram<L>
}

/** A registry of its own per service, so that five in one process do not mix. Names are `ponte_…`, units last; every series has `labels`. */
export function createMetrics(service: string, labels: Readonly<Record<string, string>> = {}): Metrics {
  const registry = new prom.Registry()
  registry.setDefaultLabels({ service, ...labels })
  const registers = [registry]
  return {
    service,
    registry,
    counter<L extends string>(name: string, help: string, labels: readonly L[] | LabelValues<L> = []) {
      const labelNames = isList(labels) ? labels : Object.keys(labels)
      const known = isList(labels) ? [] : combinations(labels)
      const counter = new prom.Counter<string>({ name, help, labelNames, registers })
      for (const each of known) counter.inc(each, 0)
      const series = boundedSeries(labelNames, { known })
      return {
        inc: (first?: Labels<L> | number, value?: number) => (isValue(first) ? counter.inc(first) : counter.inc(series.of(first), value)),
      }
    },
    gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []) {
      const gauge = new prom.Gauge<string>({ name, help, labelNames, registers })
      const series = boundedSeries(labelNames)
      return {
        set: (first: Labels<L> | number, value: number = 0) =>
          typeof first === 'number' ? gauge.set(first) : gauge.set(series.of(first), value),
        inc: (first?: Labels<L> | number, value?: number) => (isValue(first) ? gauge.inc(first) : gauge.inc(series.of(first), value)),
        reset() {
          gauge.reset()
          series.clear()
        },
      }
    },
    observed(name, help, read) {
      if (registry.getSingleMetric(name)) return
      new prom.Gauge({
        name,
        help,
        registers,
        async collect() {
          // One value that cannot be read, because its database is away, must not hide the others just then.
          this.set(await withTimeout(READ_WAIT_MS, Promise.resolve().then(read), name).catch(() => Number.NaN))
        },
      })
    },
    observedEach<L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[],
      read: () => Promise<readonly (readonly [Labels<L>, number])[]>,
    ) {
      const series = boundedSeries(labelNames)
      new prom.Gauge<string>({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const found = await withTimeout(READ_WAIT_MS, Promise.resolve().then(read), name).catch(() => [])
          this.reset()
          series.clear()
          for (const [labels, value] of found) this.set(series.of(labels), value)
        },
      })
    },
    histogram<L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
      buckets: readonly number[] = BUCKETS,
      closed: readonly L[] = [],
    ) {
      const histogram = new prom.Histogram<string>({ name, help, labelNames, buckets: [...buckets], registers })
      const series = boundedSeries(labelNames, { closed })
      return {
        observe: (first: Labels<L> | number, value: number = 0) =>
          typeof first === 'number' ? histogram.observe(first) : histogram.observe(series.of(first), value),
      }
    },
  }
}

/** Without labels the first argument is the value, if there is any. */
const isValue = (first: object | number | undefined): first is number | undefined => typeof first !== 'object'

const isList = <L extends string>(labels: readonly L[] | LabelValues<L>): labels is readonly L[] => Array.isArray(labels)

const combinations = (labels: Readonly<Record<string, readonly string[]>>): Record<string, string>[] =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (known, [label, values]) => known.flatMap(each => values.map(value => ({ ...each, [label]: value }))),
    [{}],
  )
