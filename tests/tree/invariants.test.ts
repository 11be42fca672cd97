import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesOf } from './tracked-files'

// README lists what must never happen; a reader finds the proof of each by its number.

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
