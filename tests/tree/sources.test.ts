import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesOf } from './tracked-files'

const root = resolve(__dirname, '../..')
const REASON = /\bRaw\b/
const STATEMENT = /['"`]\s*(?:WITH [\w\s]+ AS|SELECT|INSERT INTO|UPDATE [\w$]+|DELETE FROM)\s/

const sources = filesOf(root)
  .filter(path => /^services\/[^/]+\/src\/.*\.ts$/.test(path) && !/\/generated\/|\.test\.ts$/.test(path))
  .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  .filter(({ text }) => STATEMENT.test(text))

describe('SQL of a service (CONTRIBUTING, "Reaching PostgreSQL")', () => {
  test('is found', () => expect(sources.length).toBeGreaterThan(30))

  test('stands in a store', () => {
    expect(sources.map(({ path }) => path).filter(path => !/\/store(?:\/|\.ts$)/.test(path))).toEqual([])
  })

  test('gives the reason why it is not Prisma', () => {
    expect(sources.filter(({ text }) => !REASON.test(text)).map(({ path }) => path)).toEqual([])
  })
})
