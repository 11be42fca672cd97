import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setUp } from '../develop/setup.mjs'
import { fail } from '../develop/steps.mjs'

await setUp().catch(fail)

process.env.NODE_ENV ??= 'test'
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

setTimeout(() => {
  console.error('A test left something open that keeps this process alive (npm test -- --detectOpenHandles finds it).')
  process.exit(1)
}, 10_000).unref()
