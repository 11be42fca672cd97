import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capacity, measured, tables } from './capacity-model.mjs'

// What a number of orders a second takes, reckoned from what docs/performance.md measured:
//   npm run capacity -- --orders-per-second 50 --days 365
//   npm run capacity -- --write          writes the tables of docs/capacity.md; --check compares them

const root = join(import.meta.dirname, '../..')
const page = join(root, 'docs/capacity.md')
const costs = measured(readFileSync(join(root, 'docs/performance.md'), 'utf8'))

const option = name => {
  const at = process.argv.indexOf(`--${name}`)
  if (at === -1) return undefined
  const value = Number(process.argv[at + 1])
  if (Number.isFinite(value) && value > 0) return value
  console.error(`--${name} needs a number above zero.`)
  process.exit(1)
}

const text = readFileSync(page, 'utf8')
if (process.argv.includes('--write')) writeFileSync(page, withTables(text))
else if (process.argv.includes('--check')) {
  if (withTables(text) !== text) {
    console.error('docs/capacity.md does not follow from docs/performance.md: run `npm run capacity -- --write`.')
    process.exitCode = 1
  }
} else {
  const rate = option('orders-per-second') ?? 10
  const { cores, disk, other } = capacity(costs, rate, option('days') ?? 365)
  console.table(cores)
  console.table(disk)
  console.table(other)
}

/** The page with its tables as the model has them. */
function withTables(text) {
  return Object.entries(tables(costs)).reduce((drawn, [name, table]) => {
    const block = new RegExp(`(<!-- table: ${name} -->\\n\\n)[^]*?(\\n\\n|\\n$)`)
    if (!block.test(drawn)) throw new Error(`docs/capacity.md has no block "<!-- table: ${name} -->".`)
    return drawn.replace(block, (_, before, after) => `${before}${table}${after}`)
  }, text)
}
