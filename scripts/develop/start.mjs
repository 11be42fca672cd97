import { fileURLToPath } from 'node:url'
import { setUp } from './setup.mjs'
import { fail } from './steps.mjs'

await setUp({ toRun: true }).catch(fail)

// This process becomes the program: the pid, the signals and the exit code are its own, with nothing in between that could be killed alone.
const main = new URL('../../services/all-in-one/dist/main.js', import.meta.url)
process.argv[1] = fileURLToPath(main)
// By its command line another start recognises it (all-in-one's folder-claim.ts).
process.title = 'ponte all-in-one'
await import(main)
