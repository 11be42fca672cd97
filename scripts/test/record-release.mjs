import { setUp } from '../develop/setup.mjs'
import { fail } from '../develop/steps.mjs'
import { runTool } from './with-servers.mjs'

await setUp().catch(fail)
await runTool('tests/releases/record.ts').catch(fail)
