import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { minifySync } from '@swc/core'

// Bytes of each entry with all that it imports, minified, and compressed as one: node packages/sdk/scripts/sizes.mjs prints the table of the README.

const lib = join(dirname(fileURLToPath(import.meta.url)), '../lib/esm')
const entries = { '@ponte/sdk': 'index', '@ponte/sdk/express': 'express', '@ponte/sdk/fetch': 'fetch', '@ponte/sdk/next': 'next' }

/** An entry and what it imports, each file once. */
function reached(file, found = new Map()) {
  if (found.has(file)) return found
  const text = readFileSync(file, 'utf8')
  found.set(file, text)
  for (const [, path] of text.matchAll(/from ['"](\.[^'"]+)['"]/g)) reached(join(dirname(file), path), found)
  return found
}

export function sizesOf(files) {
  const code = files.map(text => minifySync(text, { module: true, compress: true, mangle: true }).code).join('\n')
  return { minified: Buffer.byteLength(code), compressed: gzipSync(code).length }
}

export const sizes = () => ({
  ...Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, sizesOf([...reached(join(lib, `${file}.js`)).values()])])),
  keccak: sizesOf([readFileSync(join(lib, 'address/keccak.js'), 'utf8')]),
})

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === '')
  console.log(process.argv.includes('--json') ? JSON.stringify(sizes()) : table())

function table() {
  const rows = Object.entries(sizes()).map(
    ([name, { minified, compressed }]) => `| \`${name}\` | ${kilo(minified)} | ${kilo(compressed)} |`,
  )
  return ['| entry, with what it imports | minified | gzip |', '|---|---|---|', ...rows].join('\n')
}

function kilo(bytes) {
  return `${(bytes / 1_000).toFixed(1)} kB`
}
