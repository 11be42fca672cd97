import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transformFile } from '@swc/core'

// Types are checked by `npm run check`; here they are only taken off, by the compiler that the tests use as well. That takes a second where
// `tsc --build` takes half a minute on a fresh clone.
const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  // The annotation names the exports for an ES module that imports them.
  module: { type: 'commonjs', exportInteropAnnotation: true },
  sourceMaps: true,
  inlineSourcesContent: false,
  swcrc: false,
}

for (const folder of process.argv.slice(2)) {
  if (folder !== 'packages/sdk') {
    await compile(folder, 'dist', 'commonjs')
    continue
  }
  // Contracts come before it, and are compiled by then. Its output is laid out as it is published; declarations come with `npm pack`.
  ;(await import('../../packages/sdk/scripts/operations.mjs')).writeOperations()
  for (const [name, type, module] of [
    ['cjs', 'commonjs', 'commonjs'],
    ['esm', 'module', 'es6'],
  ]) {
    await compile(folder, join('lib', name), module)
    writeFileSync(join(folder, 'lib', name, 'package.json'), `${JSON.stringify({ type })}\n`)
  }
}

async function compile(folder, output, module) {
  const sources = filesIn(join(folder, 'src')).filter(file => !/\.(test|d)\.ts$/.test(file))
  const written = await Promise.all(sources.map(file => emit(join(folder, 'src', file), join(folder, output, file), module)))
  // Leftovers of an earlier source are removed last, so that a program which runs from here meanwhile misses nothing.
  const current = new Set(written.flat())
  for (const file of filesIn(join(folder, output)).map(file => join(folder, output, file))) if (!current.has(file)) rmSync(file)
}

async function emit(source, target, module) {
  mkdirSync(dirname(target), { recursive: true })
  if (!source.endsWith('.ts')) {
    copyFileSync(source, target)
    return [target]
  }
  const { code, map } = await transformFile(source, { ...options, module: { ...options.module, type: module } })
  const output = target.replace(/ts$/, 'js')
  writeFileSync(output, `${code}\n//# sourceMappingURL=${output.replace(/^.*\//, '')}.map\n`)
  writeFileSync(`${output}.map`, map)
  return [output, `${output}.map`]
}

function filesIn(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true }).filter(name => statSync(join(folder, name)).isFile())
}
