import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setUp } from '../develop/setup.mjs'
import { fail } from '../develop/steps.mjs'

// Long forms of tests, by their name: the examples on Bun, Deno, the runtime of Workers and Next.js, which come from the registry (`runtimes`),
// `ponte listen` that is away for ten minutes of events (`listen-away`), and first-time payers and merchants step by step (`pages/paths`).
await setUp().catch(fail)

const [, , name, ...options] = process.argv
const jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', '--testMatch', `**/tests/system/${name}.ts`, ...options], {
  stdio: 'inherit',
})
const [code] = await once(jest, 'exit')
process.exitCode = code ?? 1
