import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The part of the table of operations that a client needs while it runs: the SDK has no dependencies, so it gets a copy when it is built.

const folder = join(dirname(fileURLToPath(import.meta.url)), '..')
const { isKeyed, operationList } = createRequire(import.meta.url)(join(folder, '../contracts/dist/index.js'))

export function writeOperations() {
  const rows = operationList
    .filter(([, { credentials }]) => !credentials.includes('internal'))
    .map(([id, { method, path, ...row }]) => `  ${id}: ${JSON.stringify([method.toUpperCase(), path, isKeyed({ method, ...row })])},\n`)
  mkdirSync(join(folder, 'src/artifacts'), { recursive: true })
  writeFileSync(join(folder, 'src/artifacts/operations.ts'), `export const operations = {\n${rows.join('')}} as const\n`)
}
