import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesOf } from './tracked-files'

const root = resolve(__dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = filesOf(root)

const AMOUNT = '(?:[aA]mounts?|[uU]nits|[gG]ross|[sS]hare|[cC]entavos|[rR]eceived|[eE]xpected|usdc|brl)'
const TYPED_AS_NUMBER = /\b(?!\w*bps\b)\w*(amount|units|fee|received|expected)\w*\??: number\b/i
const CONVERTED = new RegExp(`\\b(?:Number|(?:Number\\.)?parse(?:Float|Int))\\([^)\\n]*(?:\\b|\\w)${AMOUNT}(?![a-z])`)
const FLOAT_COLUMN = /\b(real|double precision|float[48]?|money)\b/i
const FLOAT_FIELD = /\bFloat\b|@db\.(Real|DoublePrecision|Money)\b/

/** The height of a bar in pixels is no amount any more. */
const PICTURE = 'packages/web/src/dashboard/overview/volume-chart.tsx'

const sources = files.filter(path => /^(packages|services)\/[\w-]+\/src\/.*(?<!\.test)\.tsx?$/.test(path) && !path.includes('/artifacts/'))
const complaintsOf = (pattern: RegExp, among: readonly string[], textOf = read) =>
  among.flatMap(path =>
    textOf(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
const withoutComments = (path: string) => read(path).replace(/--.*$|\/\/.*$/gm, '')

describe('invariant 9: no amount passes through a JavaScript number or a float column', () => {
  test('no column is a float', () => {
    const schemas = files.filter(path => path.endsWith('/schema.prisma'))
    const migrations = files.filter(path => path.endsWith('/migration.sql'))
    expect(schemas).toHaveLength(5)
    expect(migrations.length).toBeGreaterThan(5)
    expect(complaintsOf(FLOAT_FIELD, schemas, withoutComments)).toEqual([])
    expect(complaintsOf(FLOAT_COLUMN, migrations, withoutComments)).toEqual([])
  })

  test('no source types an amount as number', () => {
    expect(sources.length).toBeGreaterThan(100)
    expect(complaintsOf(TYPED_AS_NUMBER, sources)).toEqual([])
  })

  test('no source converts an amount to a number', () => {
    const others = sources.filter(path => path !== PICTURE)
    expect(complaintsOf(CONVERTED, others)).toEqual([])
  })

  test.each([
    ['const total = Number(order.usdcUnits)', CONVERTED],
    ['parseFloat(body.brl_amount)', CONVERTED],
    ['Number.parseInt(row.gross_units, 10)', CONVERTED],
    ['Number(formatUsdc(amount))', CONVERTED],
    ['feeUnits: number', TYPED_AS_NUMBER],
    ['price double precision NOT NULL', FLOAT_COLUMN],
    ['  rate Float', FLOAT_FIELD],
  ])('%j would be seen', (line, pattern) => {
    expect(line).toMatch(pattern)
  })
})
