import { writeFileSync } from 'node:fs'
import { processTable } from './process-table'

/** Runs a benchmark as a program. Its figures go where PONTE_BENCH_RESULT names a file. */
export async function runBench(work: () => Promise<object>): Promise<void> {
  try {
    const figures = await work()
    const file = process.env.PONTE_BENCH_RESULT
    if (file) writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
    process.exit(0)
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
}

/** Milliseconds that each of so many rounds took, the shortest first. */
export async function timesOf(rounds: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    await work()
    times.push(performance.now() - begun)
  }
  return times.sort((a, b) => a - b)
}

export const quantile = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN

/** Seconds of processor that processes have used so far; NaN where that cannot be known. */
export function cpuSeconds(pids: readonly number[]): number {
  const found = processTable().filter(({ pid }) => pids.includes(pid))
  return found.length < pids.length ? Number.NaN : found.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1_000
}
