import { testBroker } from '@ponte/service-kit/testing'
import { torture } from './torture'

const USAGE = 'npm run torture -- [--minutes N] [--seed S]'

function argument(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`)
  if (at < 0) return fallback
  const value = Number(process.argv[at + 1])
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} wants a number above zero. Usage: ${USAGE}`)
  return value
}

async function main(): Promise<void> {
  const seed = argument('seed', Date.now() % 1_000_000)
  const seconds = argument('minutes', 1) * 60
  const since = Date.now()
  const tell = (line: string) => console.log(`${((Date.now() - since) / 1000).toFixed(1).padStart(7)} s  ${line}`)
  console.log(`seed ${seed}, ${seconds} s of faults`)
  const outcome = await torture({ seed, seconds, amqp: testBroker(), tell })
  console.table(outcome.faults)
  console.table(outcome.counts)
  console.log(`${outcome.webhooks} webhooks received`)
  for (const difference of outcome.differences) console.log(`DIFFERENCE  ${difference}`)
  console.log(`${outcome.differences.length} differences (seed ${seed})`)
  if (outcome.differences.length > 0) process.exitCode = 1
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
