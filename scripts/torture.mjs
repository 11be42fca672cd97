import { fail } from './steps.mjs'
import { runTool, withServers } from './with-servers.mjs'

await withServers(() => runTool('services/all-in-one/torture/main.ts', process.argv.slice(2))).catch(fail)
