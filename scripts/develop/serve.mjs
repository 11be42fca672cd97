import { fileURLToPath } from 'node:url'
import { setUp } from './setup.mjs'
import { fail } from './steps.mjs'

await setUp({ toRun: true }).catch(fail)

const main = new URL('../../services/all-in-one/dist/serve.js', import.meta.url)
process.argv[1] = fileURLToPath(main)
await import(main)
