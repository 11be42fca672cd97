import { setUp } from '../develop/setup.mjs'
import { fail, run } from '../develop/steps.mjs'

// Runs the examples on Bun, Deno, the runtime of Workers and Next.js, which come from the registry: too large for the tests.
await setUp().catch(fail)

const { code } = await run(
  { command: [process.execPath, 'node_modules/jest/bin/jest.js', '--testMatch', '**/tests/system/runtimes.ts'] },
  line => console.error(line),
)
process.exitCode = code
