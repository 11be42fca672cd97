import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { filesOf } from './tracked-files'

// README lists what must never happen; a reader finds the proof of each by its number. What of it and of the state table is in a model stands there as what the
// model is judged by: a conjunct of `safe`, or a run that `tests/spec` plays. Documents and models name each other.

const root = resolve(__dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const [, list = ''] = read('README.md').split('## What must never happen\n')
const invariants = [...(list.split('\n## ')[0] ?? '').matchAll(/^(\d+)\. (.+)$/gm)].map(([, number = '', text = '']) => [number, text])
const titles = filesOf(root)
  .filter(path => path.endsWith('.test.ts') && path !== 'tests/tree/invariants.test.ts')
  .flatMap(path => read(path).match(/(['"`])[^'"`\n]*\binvariant \d+\b[^'"`\n]*\1/g) ?? [])

test('README lists ten', () => expect(invariants).toHaveLength(10))

test.each(invariants)('README, invariant %s has a test whose title names it: %s', number => {
  expect(titles.filter(title => new RegExp(`\\binvariant ${number}\\b`).test(title))).not.toEqual([])
})

const models = readdirSync(join(root, 'spec')).map(file => [file, read(`spec/${file}`)] as const)

describe.each(models)('spec/%s', (file, text) => {
  const row = read('docs/protocol.md')
    .split('\n')
    .find(line => line.startsWith(`| \`${file}\` |`))
  const stated = [...(row?.split('|')[3] ?? '').matchAll(/\d+/g)].map(([number]) => number)

  test('is judged by each invariant that docs/protocol.md names for it, and by no other', () => {
    const judged = conjunctsOf(text)
    const numbers = commented(text, /\/\/ (invariant \d.*)/).flatMap(({ comment, following }) => {
      expect(judged).toContain(/^ {2}val (\w+)/.exec(following)?.[1])
      return [...comment.matchAll(/invariant (\d+)/g)].map(([, number]) => number)
    })
    expect([...new Set(numbers)].sort()).toEqual(stated)
  })

  test('is linked from each document that it is written from', () => {
    const sources = [...new Set(text.match(/docs\/[\w/.-]+\.md/g))]
    expect(sources).not.toEqual([])
    const silent = sources.filter(path => !read(path).includes(`(${relative(dirname(path), `spec/${file}`)})`))
    expect(silent).toEqual([])
  })
})

const STATES = [
  'pending',
  'confirming',
  'underpaid',
  'paid',
  'expired',
  'cancelled',
  'overpaid',
  'duplicate',
  'paid_late',
  'paid_after_cancel',
  'reorged',
]
const [, ofOrders = ''] = read('docs/money.md').split('| from | when | to | webhook |\n|---|---|---|---|\n')
const rows = (ofOrders.split('\n\n')[0] ?? '').split('\n').map(line =>
  line
    .split('|')
    .slice(1, 4)
    .map(cell => cell.trim()),
)

test('the state table of docs/money.md has 21 rows, and spec/order.qnt no other', () => {
  expect(rows).toHaveLength(21)
  const modelled = commented(read('spec/order.qnt'), /\/\/ money\.md: (.*)/).map(({ comment }) => comment)
  expect(modelled).toEqual(rows.map(cells => cells.join(' | ')))
})

test.each(rows)('docs/money.md, %s, %s: runs of spec/order.qnt begin there and end with %s', (from, when, to) => {
  const rest = read('spec/order.qnt').split(`// money.md: ${from} | ${when} | ${to}\n`)[1] ?? ''
  const runs = (rest.split(/\n\n/)[0] ?? '').split(/^ {2}run \w+Test = /m).slice(1)
  expect(runs).not.toEqual([])
  const stated = runs.flatMap(run => [...run.matchAll(/"(\w+)"/g)].map(([, name]) => name))
  expect(stated).toEqual(expect.arrayContaining(statesIn(from === 'any other' ? 'pending, confirming, paid' : from)))
  // A refusal is a last step that cannot be taken.
  if (to?.startsWith('409')) expect(runs.filter(run => !/\.then\((cancel|accept)\)\.fail\(\)\s*$/.test(run))).toEqual([])
  else expect(stated).toEqual(expect.arrayContaining(statesIn(to)))
})

function statesIn(cell = ''): string[] {
  return STATES.filter(state => new RegExp(`(?<!as any |\\w)${state}(?!\\w)`).test(cell))
}

/** What a model is judged by: the values whose conjunction is its `safe`. */
function conjunctsOf(text: string): string[] {
  return (/^ {2}val safe = (.*)$/m.exec(text)?.[1] ?? '').split(' and ')
}

function commented(text: string, pattern: RegExp): { comment: string; following: string }[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const [, comment] = new RegExp(`^ {2}${pattern.source}$`).exec(line) ?? []
    return comment === undefined ? [] : [{ comment, following: lines[index + 1] ?? '' }]
  })
}
