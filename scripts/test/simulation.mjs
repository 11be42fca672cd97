import { fail } from '../develop/steps.mjs'
import { runTool, withServers } from './with-servers.mjs'

await withServers(() => runTool('tests/simulation/main.ts', process.argv.slice(2))).catch(fail)
