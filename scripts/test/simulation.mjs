import { setUp } from '../develop/setup.mjs'
import { fail } from '../develop/steps.mjs'
import { runTool } from './with-servers.mjs'

await setUp()
  .then(() => runTool('tests/simulation/main.ts', process.argv.slice(2)))
  .catch(fail)
