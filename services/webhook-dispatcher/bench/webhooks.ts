import { runBench } from '@ponte/service-kit/testing'
import { measureFairness, measureHanging, measureLatency } from './fairness'
import { contenders } from './queues'
import { startReceiver } from './rig'

// Deliveries per second beside the queues that others would use and beside the bare limit; how soon an event is delivered; and whether one
// merchant's hanging receiver is felt by the others.

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const COUNT = Number(process.env.BENCH_DELIVERIES ?? 10_000)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10)
/** Turns of fairness: one pause of the machine decides a turn's p99, so that the middle of several is compared. */
const TURNS = Math.max(ROUNDS, 7)
const DUE_ROWS = (process.env.BENCH_DUE_ROWS ?? '10000,1000000').split(',').map(Number)

type Figures = Record<string, number[]>
interface Section {
  title: string
  rows: { name: string; figures: Figures }[]
  notes: string[]
}

async function throughput(delayMs: number): Promise<Section> {
  const receiver = await startReceiver(delayMs)
  const rows = Object.keys(contenders).map(name => ({ name, figures: {} as Figures }))
  // Interleaved, so that a disturbance of the machine meets all of them; the first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, figures } of rows) {
      const count = round === 0 ? Math.ceil(COUNT / 5) : COUNT
      const took = await contenders[name]?.(receiver.url, count)
      if (took !== undefined && round > 0) figures['deliveries/s'] = [...(figures['deliveries/s'] ?? []), count / took]
    }
  }
  receiver.stop()
  const [bare = Number.NaN, ours = Number.NaN, ...queues] = rows.flatMap(({ figures }) => Object.values(figures).map(median))
  const best = Math.max(...queues)
  const notes = [`Ponte / bare loop ${(ours / bare).toFixed(2)} (goal 0.5), Ponte / best queue ${(ours / best).toFixed(2)} (goal 1)`]
  return { title: `${COUNT} deliveries to a receiver that takes ${delayMs} ms, ${ROUNDS} rounds`, rows, notes }
}

async function latency(): Promise<Section> {
  const { firstAttemptMs } = await measureLatency({ perSecond: 200, seconds: SECONDS, merchants: 100 })
  const figures = quantiles(firstAttemptMs)
  return {
    title: `From event to first attempt at 200 events/s for ${SECONDS} s`,
    rows: [{ name: 'Ponte', figures }],
    notes: ['goal: p50 at most 50 ms'],
  }
}

async function fairness(): Promise<Section> {
  const rows: Section['rows'] = []
  const notes: string[] = []
  for (const hangingRows of DUE_ROWS) {
    const load = { perSecond: 100, seconds: Math.ceil(SECONDS / 2), merchants: 100, rounds: TURNS, hangingRows }
    const { without, beside } = await measureFairness(load)
    const figures = [quantiles(...without), quantiles(...beside)]
    rows.push({ name: `none hangs (${hangingRows} rows there)`, figures: figures[0] ?? {} })
    rows.push({ name: `one hangs with ${hangingRows} due`, figures: figures[1] ?? {} })
    const [before = 1, after = Number.NaN] = figures.map(figure => median(figure['p99 ms'] ?? []))
    notes.push(`p99 beside ${hangingRows} due / without: ${(after / before).toFixed(2)} (goal at most 1.5)`)
  }
  return { title: `From event to recorded delivery for 100 healthy merchants, 100 events/s, ${TURNS} turns each`, rows, notes }
}

async function hanging(): Promise<Section> {
  const rows: Section['rows'] = []
  for (const [hanging, dueEach] of [
    [100, 8],
    [400, 4],
  ] as const) {
    const load = { perSecond: 100, seconds: Math.ceil(SECONDS / 2), merchants: 100, rounds: ROUNDS, hanging, dueEach }
    const { calm, beside } = await measureHanging(load)
    rows.push({ name: 'calm', figures: quantiles(...calm) })
    rows.push({ name: `${hanging} endpoints begin to hang with ${dueEach} due each`, figures: quantiles(...beside) })
  }
  return {
    title: `From event to first attempt for 100 healthy merchants, 100 events/s, ${ROUNDS} turns each`,
    rows,
    notes: ['goal: p99 at most 300 ms'],
  }
}

function print({ title, rows, notes }: Section): void {
  console.log(`\n${title}`)
  const cell = (all: number[]) =>
    all.length === 1 ? short(all[0] ?? Number.NaN) : `${short(median(all))} (${short(Math.min(...all))}–${short(Math.max(...all))})`
  console.table(
    rows.map(({ name, figures }) => ({ name, ...Object.fromEntries(Object.entries(figures).map(([key, all]) => [key, cell(all)])) })),
  )
  for (const note of notes) console.log(note)
}

const quantiles = (...turns: number[][]): Figures => ({
  'p50 ms': turns.map(turn => quantile(turn, 0.5)),
  'p95 ms': turns.map(turn => quantile(turn, 0.95)),
  'p99 ms': turns.map(turn => quantile(turn, 0.99)),
})
const quantile = (all: readonly number[], share: number) =>
  [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN
const median = (all: readonly number[]) => quantile(all, 0.5)
const short = (value: number) => value.toFixed(value >= 100 ? 0 : 1)

runBench(async () => {
  const wanted = (process.env.BENCH_SECTIONS ?? 'throughput,latency,fairness,hanging').split(',')
  const sections: Section[] = []
  const add = async (section: Promise<Section>) => {
    sections.push(await section)
    print(sections.at(-1) ?? { title: '', rows: [], notes: [] })
  }
  if (wanted.includes('throughput')) for (const delayMs of [0, 50]) await add(throughput(delayMs))
  if (wanted.includes('latency')) await add(latency())
  if (wanted.includes('fairness')) await add(fairness())
  if (wanted.includes('hanging')) await add(hanging())
  return { node: process.version, sections }
})
