import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runOnPinnedNode } from './runtime.mjs'
import { fail } from './steps.mjs'

// Runs a script that sets nothing up on the pinned Node: node scripts/develop/run.mjs <script> [argument …]

await runOnPinnedNode().catch(fail)
process.argv.splice(1, 1)
process.argv[1] = resolve(process.argv[1])
await import(pathToFileURL(process.argv[1]))
