import { mkdirSync } from 'node:fs'
import { torture } from './torture'

/** A run of so many seconds fails unless each fault has struck. */
const EVERY_FAULT_S = 300
const USAGE = 'npm run torture -- [--minutes N] [--seed S] [--networks 2 | 3] [--logs FOLDER]'

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : process.argv[at + 1]
}

function count(name: string, fallback: number): number {
  const value = Number(argument(name) ?? fallback)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} wants a number above zero. Usage: ${USAGE}`)
  return value
}

async function main(): Promise<void> {
  const seed = count('seed', Date.now() % 1_000_000)
  const seconds = count('minutes', 1) * 60
  const since = Date.now()
  const report = (line: string) => console.log(`${((Date.now() - since) / 1000).toFixed(1).padStart(7)} s  ${line}`)
  const logFolder = argument('logs')
  if (logFolder !== undefined) mkdirSync(logFolder, { recursive: true })
  console.log(`seed ${seed}, ${seconds} s of faults`)
  const outcome = await torture({ seed, seconds, networks: count('networks', 1), report, logFolder })
  console.table(outcome.faults)
  console.table(outcome.counts)
  console.log(`${outcome.payments} payments on the chain, ${outcome.webhooks} webhooks received`)
  const missing = Object.keys(outcome.faults).filter(name => outcome.faults[name] === 0)
  if (missing.length > 0) console.log(`never struck: ${missing.join(', ')}`)
  for (const difference of outcome.differences) console.log(`DIFFERENCE  ${difference}`)
  console.log(`${outcome.differences.length} differences (seed ${seed})`)
  const isWhole = missing.length === 0 || seconds < EVERY_FAULT_S
  if (outcome.differences.length > 0 || !isWhole) process.exitCode = 1
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
