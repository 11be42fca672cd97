import { spawnSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, setUp } from '../develop/setup.mjs'
import { fail } from '../develop/steps.mjs'

const AGAIN_MAX = 6
let leftOpen = false

await setUp().catch(fail)

process.env.NODE_ENV ??= 'test'
/** Before Jest's set-up names the servers of its run in it. */
const environment = { ...process.env }
process.on('exit', () => {
  // A run that broke off before Jest had its results has no counts.
  const { passed, failed, skipped } = globalThis.ponteTestCounts ?? { passed: 0, failed: 0, skipped: 0 }
  if (passed === 0 || failed > 0) process.exitCode ||= 1
  // Not by console.log, which Jest silences when it exits early.
  writeSync(process.stdout.fd, `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
})

const reporter = fileURLToPath(new URL('./counting-reporter.mjs', import.meta.url))
const jest = await import('jest')
await jest.run([...process.argv.slice(2), '--reporters=default', `--reporters=${reporter}`])
if (process.argv.length === 2) runAgain(globalThis.ponteTestCounts)

setTimeout(() => {
  leftOpen = true
  console.error('A test left something open that keeps this process alive (npm test -- --detectOpenHandles finds it).')
  process.exit(1)
}, 10_000).unref()

/** Many processes share the cores in a whole run. The few files that failed in it run once more alone; one that passes is named as unsteady, for it has to be mended too. */
function runAgain(counts) {
  const files = counts?.failedFiles ?? []
  if (files.length === 0 || files.length > AGAIN_MAX) return
  const names = files.map(file => relative(root, file)).join(', ')
  console.error(`\nOnce more, alone: ${names}`)
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), '--runInBand', '--runTestsByPath', ...files], {
    env: environment,
    stdio: 'inherit',
  })
  if (status !== 0) return
  console.error(`UNSTEADY, failed in the whole run and passed alone: ${names}`)
  Object.assign(counts, { passed: counts.passed + counts.failed, failed: 0 })
  process.on('exit', () => {
    // Jest's own result, of before.
    if (!leftOpen) process.exitCode = 0
  })
}
