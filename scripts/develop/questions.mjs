import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// A reviewer's questions about the shape of the house. Limits that a test enforced became goals, and cut nouns in two: these are answered by a person.

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const LONG_LINES = 300
const SHORT_LINES = 10
const CROWDED_FILES = 20

const sources = execFileSync('git', ['ls-files', 'packages', 'services', 'scripts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(path => /\.(ts|tsx|mjs)$/.test(path) && !/\.test\.|\/test\/|\/generated\/|\/artifacts\//.test(path))
  .flatMap(path => {
    try {
      return [{ path, lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1 }]
    } catch {
      // Removed, and not yet committed.
      return []
    }
  })

const long = sources.filter(({ lines }) => lines > LONG_LINES)
const short = sources.filter(({ lines }) => lines <= SHORT_LINES)
const peers = new Map()
for (const { path } of sources) peers.set(dirname(path), (peers.get(dirname(path)) ?? 0) + 1)
const crowded = [...peers].filter(([, count]) => count > CROWDED_FILES)

console.log(
  `${sources.reduce((sum, { lines }) => sum + lines, 0)} lines in ${sources.length} files, ${short.length} of them of ${SHORT_LINES} lines or fewer.`,
)
for (const { path, lines } of long) console.log(`  ${path} has ${lines} lines: one noun, or two?`)
for (const [folder, count] of crowded) console.log(`  ${folder} has ${count} files: one room, or several?`)
