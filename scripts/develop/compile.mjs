import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transformFile } from '@swc/core'

// Types are checked by `npm run check`; here they are only taken off, by the compiler that the tests use as well. That takes a second where
// `tsc --build` takes half a minute on a fresh clone.
const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  // A dynamic import stays one, as it must to load an ES module.
  // The annotation names the exports for an ES module that imports them.
  module: { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true },
  sourceMaps: true,
  inlineSourcesContent: false,
  swcrc: false,
}

for (const folder of process.argv.slice(2)) await compile(folder)

async function compile(folder) {
  const sources = filesIn(join(folder, 'src')).filter(file => !/\.(test|d)\.ts$/.test(file))
  const written = await Promise.all(sources.map(file => emit(join(folder, 'src', file), join(folder, 'dist', file))))
  // What an earlier source left is removed last, so that a program which runs from here meanwhile misses nothing.
  const current = new Set(written.flat())
  for (const file of filesIn(join(folder, 'dist')).map(file => join(folder, 'dist', file))) if (!current.has(file)) rmSync(file)
}

async function emit(source, target) {
  mkdirSync(dirname(target), { recursive: true })
  if (!source.endsWith('.ts')) {
    copyFileSync(source, target)
    return [target]
  }
  const { code, map } = await transformFile(source, options)
  const output = target.replace(/ts$/, 'js')
  writeFileSync(output, `${code}\n//# sourceMappingURL=${output.replace(/^.*\//, '')}.map\n`)
  writeFileSync(`${output}.map`, map)
  return [output, `${output}.map`]
}

function filesIn(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true }).filter(name => statSync(join(folder, name)).isFile())
}
