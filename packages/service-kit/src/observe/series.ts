/**
 * Sets of labels that one metric holds, besides the one of all others. Those in use have some hundreds: this bounds memory and scrapes should a label
 * ever come from outside.
 */
export const SERIES_MAX = 1_000

export type Labels<L extends string> = Readonly<Record<L, string | number>>

export interface Series {
  /** The labels themselves, or `(other)` for each that is not closed where they would be one set too many. */
  of(labels: Labels<string>): Labels<string>
  clear(): void
}

/**
 * Those of one metric; sets that are known beforehand keep their place, however many they are. A `closed` label has few values, all of our own making: it is
 * kept in every set, so that an alert that reads it misses nothing.
 */
export function boundedSeries(
  names: readonly string[],
  { known = [], closed = [], max = SERIES_MAX }: { known?: readonly Labels<string>[]; closed?: readonly string[]; max?: number } = {},
): Series {
  const keyOf = (labels: Labels<string>) => JSON.stringify(names.map(name => String(labels[name])))
  const others = (labels: Labels<string>): Labels<string> => ({
    ...labels,
    ...Object.fromEntries(names.filter(name => !closed.includes(name)).map(name => [name, '(other)'])),
  })
  const held = new Set(known.map(keyOf))
  return {
    of(labels) {
      const key = keyOf(labels)
      if (!held.has(key) && held.size >= max) return others(labels)
      held.add(key)
      return labels
    },
    clear: () => held.clear(),
  }
}
