import { writeFileSync } from 'node:fs'

export interface Row {
  name: string
  /** Measurements of the rounds, by figure. */
  figures: Record<string, number[]>
}

/** Prints medians with their spread and writes all rounds as JSON where the runner wants them. */
export function report(title: string, rows: readonly Row[], notes: readonly string[] = []): void {
  const table = rows.map(({ name, figures }) => ({
    name,
    ...Object.fromEntries(Object.entries(figures).map(([figure, all]) => [figure, spread(all)])),
  }))
  console.log(`\n${title}`)
  console.table(table)
  for (const note of notes) console.log(note)
  const file = process.env.PONTE_BENCH_RESULT
  if (file) writeFileSync(file, `${JSON.stringify({ title, node: process.version, rows, notes }, null, 2)}\n`)
}

export function median(all: readonly number[]): number {
  const sorted = [...all].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function percentile(all: readonly number[], share: number): number {
  const sorted = [...all].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

const short = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1))
const spread = (all: readonly number[]) => `${short(median(all))} (${short(Math.min(...all))}–${short(Math.max(...all))})`
