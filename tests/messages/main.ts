import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Books } from './books'
import { chainFacts } from './chain-facts'
import { type BusKind, openHome } from './home'
import { playOn } from './play'
import recorded from './recorded.json'

const USAGE = 'npm run simulation -- messages [--seeds N] [--from SEED] [--write]'

function count(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`)
  const value = Number(at < 0 ? fallback : process.argv[at + 1])
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} wants a whole number. Usage: ${USAGE}`)
  return value
}

/** Lines that one has and the other has not. */
function differences(books: Books, wanted: Books): string[] {
  const lines = ({ delivered, ...rest }: Books) =>
    Object.entries({ ...rest, ...delivered }).flatMap(([name, each]) =>
      each.map((line, n) => `${name}: ${line} (${n - each.indexOf(line)})`),
    )
  const [is, must] = [new Set(lines(books)), new Set(lines(wanted))]
  return [
    ...[...is].filter(line => !must.has(line)).map(line => `+ ${line}`),
    ...[...must].filter(line => !is.has(line)).map(line => `- ${line}`),
  ]
}

async function main(): Promise<void> {
  const [seeds, from] = [count('seeds', 10), count('from', 1)]
  const home = await openHome()
  const chain = chainFacts()
  let wrong = 0
  const play = async (kind: BusKind, seed: number | null) => {
    const since = performance.now()
    const { books, counts, dead } = await playOn(home, kind, chain, seed)
    const found = isDeepStrictEqual(books, recorded) ? dead : [...differences(books, recorded), ...dead]
    const took = ((performance.now() - since) / 1_000).toFixed(1)
    console.log(
      `${kind}, ${seed === null ? 'in order' : `seed ${seed}`}: ${found.length} differences, ${JSON.stringify(counts)}, ${took} s`,
    )
    for (const difference of found) console.log(`DIFFERENCE  ${difference}`)
    wrong += found.length
    return books
  }
  const ordered = await play('memory', null)
  if (process.argv.includes('--write')) writeFileSync(join(__dirname, 'recorded.json'), `${JSON.stringify(ordered, null, 2)}\n`)
  for (let seed = from; seed < from + seeds; seed += 1) for (const kind of ['memory', 'rabbitmq'] as const) await play(kind, seed)
  console.log(`${wrong} differences in ${seeds} seeds on two buses`)
  await home.close()
  process.exit(wrong > 0 ? 1 : 0)
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
