import { join } from 'node:path'
import { root, setUp } from './setup.mjs'
import { fail, run } from './steps.mjs'

await setUp().catch(fail)

const program = path => [process.execPath, join(root, 'node_modules', path)]
const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}
const checks = {
  Types: [...program('typescript/bin/tsc'), '--project', 'tsconfig.check.json'],
  'Types of the pages': [...program('typescript/bin/tsc'), '--project', 'packages/web'],
  'Form and lint': [...program('@biomejs/biome/bin/biome'), 'check', '.'],
  'Unused code': [...program('knip/bin/knip.js'), '--no-config-hints'],
  Infrastructure: [process.execPath, join(root, 'scripts/develop/check-infra.mjs')],
}

const started = Date.now()
await Promise.all(
  Object.entries(checks).map(async ([title, command]) => {
    const { code, output } = await run({ command, env: colour })
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(code === 0 ? `✓ ${title}  ${seconds} s` : `✗ ${title}  ${seconds} s\n\n${output.trim()}\n`)
    if (code !== 0) process.exitCode = 1
  }),
)

if (!process.exitCode) await import('./questions.mjs')
