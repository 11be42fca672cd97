import { chainIdsOf } from '../world'
import { startSimulation } from './simulation'

const USAGE = 'npm run simulation -- [--seeds N] [--from SEED] [--orders N] [--networks 2 | 3]'

const OF_SEVERAL = [
  'a chain stands still',
  'a chain goes on after an hour',
  'a listener is put back',
  'networks suspended',
  'networks resumed',
  'orders that offer fewer networks',
  'attached from a network that was not offered',
  'orders paid on several networks',
  'duplicates across networks',
  'sweeps to the address of one network',
]

function count(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`)
  const value = Number(at < 0 ? fallback : process.argv[at + 1])
  if (!Number.isInteger(value) || value <= 0) throw new Error(`--${name} wants a whole number above zero. Usage: ${USAGE}`)
  return value
}

async function main(): Promise<void> {
  const [seeds, from, orders] = [count('seeds', 20), count('from', 1), count('orders', 60)]
  const totals: Record<string, number> = {}
  const networks = count('networks', 1)
  const chainIds = chainIdsOf(networks)
  const simulation = await startSimulation({ networks })
  let wrong = 0
  for (let seed = from; seed < from + seeds; seed++) {
    const since = performance.now()
    const { counts, differences } = await simulation.play(seed, orders)
    for (const [name, by] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + by
    console.log(`seed ${seed}: ${differences.length} differences, ${((performance.now() - since) / 1_000).toFixed(1)} s`)
    for (const difference of differences) console.log(`DIFFERENCE  ${difference}`)
    wrong += differences.length
  }
  console.table(totals)
  console.log(`${wrong} differences in ${seeds} seeds`)
  if (wrong > 0) process.exitCode = 1
  // What never happened shows nothing, such as services that are cut off in one direction, and of which nothing came that way.
  for (const name of [
    ...['unsaid on the bus', 'unheard on the bus', 'returns by the relayer alone'],
    ...(networks > 1 ? OF_SEVERAL : []),
    ...(networks > 1 ? chainIds.flatMap(id => [`reorganisations of ${id}`, `sweeps on ${id}`]) : []),
  ])
    if (!totals[name]) {
      console.error(`There was nothing of this in ${seeds} seeds: ${name}.`)
      process.exitCode = 1
    }
  await simulation.stop()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
