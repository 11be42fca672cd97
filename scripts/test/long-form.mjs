import { setUp } from '../develop/setup.mjs'
import { fail, run } from '../develop/steps.mjs'

// Long forms of tests, by their name: the examples on Bun, Deno, the runtime of Workers and Next.js, which come from the registry (`runtimes`), and
// `ponte listen` that is away for ten minutes of events (`listen-away`).
await setUp().catch(fail)

const [, , name] = process.argv
const { code } = await run(
  { command: [process.execPath, 'node_modules/jest/bin/jest.js', '--testMatch', `**/tests/system/${name}.ts`] },
  line => console.error(line),
)
process.exitCode = code
