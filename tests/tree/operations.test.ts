import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { operationList, operations, placesOf } from '@ponte/contracts'

// An operation is declared once: packages/contracts/src/operations.

const root = resolve(__dirname, '../..')
const TABLE = 'packages/contracts/src/operations/'
/** The pages have a list of their own, in front of a browser that shall not load the schemas. */
const PAGES = 'packages/web/'

test('no other source of a service, of the SDK or of the command line names a path of the API', () => {
  const files = execFileSync('git', ['ls-files', 'packages/*/src/*.ts', 'services/*/src/*.ts'], { cwd: root, encoding: 'utf8' }).split('\n')
  const shipped = files.filter(path => path !== '' && !path.startsWith(TABLE) && !path.startsWith(PAGES) && !path.endsWith('.test.ts'))
  const naming = shipped.filter(path => /^[^*/\n]*['"`]\/api\/v1\//m.test(readFileSync(join(root, path), 'utf8')))
  expect(shipped.length).toBeGreaterThan(300)
  expect(naming).toEqual([])
})

test('each row stands at places of its own, and what it makes can be read', () => {
  const served = operationList.filter(([, { credentials }]) => !credentials.includes('internal'))
  const places = served.flatMap(([, operation]) => placesOf(operation).map(({ path }) => `${operation.method} ${path}`))
  expect(new Set(places).size).toBe(places.length)
  for (const [, { creates }] of operationList) if (creates) expect(operations).toHaveProperty([creates, 'method'], 'get')
})
