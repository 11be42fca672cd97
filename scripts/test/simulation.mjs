import { fail } from '../develop/steps.mjs'
import { runTool, withServers } from './with-servers.mjs'

const [first, ...rest] = process.argv.slice(2)
await withServers(() =>
  first === 'messages' ? runTool('tests/messages/main.ts', rest) : runTool('tests/simulation/main.ts', process.argv.slice(2)),
).catch(fail)
