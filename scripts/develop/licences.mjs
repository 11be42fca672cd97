import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// The licences of everything that is installed to run Ponte: none may ask for more than to be named.  npm run licences

const root = join(import.meta.dirname, '../..')
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Python-2.0',
  'PostgreSQL',
])
/** Used to build, and part of nothing that is delivered: a file of theirs that is changed would have to be published. */
const BUILD_ONLY = new Set(['elkjs'])

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const listed = execFileSync('npx', ['--yes', packageManager, 'licenses', 'list', '--prod', '--json'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 << 20,
})
const all = Object.entries(JSON.parse(listed)).flatMap(([licence, packages]) => packages.map(({ name }) => ({ name, licence })))
const refused = all.filter(
  ({ name, licence }) =>
    !BUILD_ONLY.has(name) &&
    !licence
      .replace(/[()]/g, '')
      .split(/ (?:AND|OR|and|or) /)
      .every(each => ALLOWED.has(each)),
)
for (const { name, licence } of refused)
  console.error(`${name} is licensed under ${licence}: replace it, or have the licence read and add it to scripts/develop/licences.mjs.`)
console.log(`${all.length} packages, ${refused.length} with a licence that is not on the list`)
process.exitCode = refused.length > 0 ? 1 : 0
