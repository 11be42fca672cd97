import { setUp } from './setup.mjs'
import { fail } from './steps.mjs'
import { runTool } from './with-servers.mjs'

await setUp()
  .then(() => runTool('tests/torture/main.ts', process.argv.slice(2)))
  .catch(fail)
