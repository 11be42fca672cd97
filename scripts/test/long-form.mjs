import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setUp } from '../develop/setup.mjs'
import { fail } from '../develop/steps.mjs'

// Long forms of tests, by their place: SDK, command line and examples by each package manager on each runtime, which come from the registry (`system/runtimes`),
// `ponte listen` that is away for ten minutes of events (`system/listen-away`), first-time payers and merchants step by step (`system/pages/paths`), every
// page against its picture (`system/pages/pictures/pictures`), what else took more than two minutes of every run of all tests (`outages`, `nodes`, `pages`, `people`, `guides`, `alerts` and `planted` of long.mjs), both overlays and both forms of compose, each container as a process (`tree/deployment/started`), who is notified of which alert (`tree/deployment/paging`), the
// sections of docs/operating/incidents.md (`system/operator/sections/*`), and services of the release before on the schema of this one (`system/contract/release-before`).
await setUp().catch(fail)

const [, , name, ...options] = process.argv
if (name.startsWith('explore/')) options.push('--reporters=default', '--reporters=./scripts/test/walk-reporter.mjs')
const jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', '--testMatch', `**/{tests,test}/${name}.ts`, ...options], {
  stdio: 'inherit',
})
const [code] = await once(jest, 'exit')
process.exitCode = code ?? 1
