import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The published form: the same sources as ES modules and as CommonJS, each beside its own declarations. Written over the build's output, from which the command
// line may run meanwhile.

const folder = join(dirname(fileURLToPath(import.meta.url)), '..')
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const flavours = {
  esm: { type: 'module', options: ['--module', 'es2022', '--moduleResolution', 'bundler'] },
  cjs: { type: 'commonjs', options: ['--module', 'nodenext', '--moduleResolution', 'nodenext'] },
}

for (const [name, { type, options }] of Object.entries(flavours)) {
  const outDir = join(folder, 'lib', name)
  const emit = ['--composite', 'false', '--incremental', 'false', '--sourceMap', 'false', '--target', 'es2022', '--outDir', outDir]
  execFileSync(process.execPath, [tsc, '--project', folder, ...emit, ...options], { stdio: 'inherit' })
  mkdirSync(outDir, { recursive: true })
  writeFileSync(join(outDir, 'package.json'), `${JSON.stringify({ type })}\n`)
}
