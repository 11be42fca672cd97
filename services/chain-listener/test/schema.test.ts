import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerMigrations } from '../src'

const SQL_TYPES: Record<string, string> = {
  BigInt: 'bigint',
  Int: 'integer',
  String: 'text',
  DateTime: 'timestamp with time zone',
  Decimal: 'numeric',
  Boolean: 'boolean',
}

/** Columns as schema.prisma declares them: `table.column type null?`. */
function declared(): string[] {
  const schema = readFileSync(join(__dirname, '../prisma/schema.prisma'), 'utf8')
  return [...schema.matchAll(/^model \w+ \{([\s\S]*?)^\}/gm)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1]
    return [...body.matchAll(/^ {2}(\w+)\s+(\w+)(\?|\[\])?(.*)$/gm)].map(([, field = '', type = '', mark, rest = '']) => {
      const column = /@map\("(\w+)"\)/.exec(rest)?.[1] ?? field
      const sqlType = mark === '[]' ? 'ARRAY' : rest.includes('@db.Uuid') ? 'uuid' : SQL_TYPES[type]
      return `${table}.${column} ${sqlType} ${mark === '?' ? 'null' : 'not null'}`
    })
  })
}

describe('migrations and schema.prisma', () => {
  it('describe the same tables, column by column', async () => {
    const database = await testDatabase(chainListenerMigrations)
    const sql = openDatabase({ url: database.url, poolSize: 1 })
    const { rows } = await sql.query<{ line: string }>(`
      SELECT table_name || '.' || column_name || ' ' || data_type || CASE is_nullable WHEN 'YES' THEN ' null' ELSE ' not null' END AS line
      FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_prisma_migrations'`)
    await sql.stop?.()
    await database.drop()
    expect(declared().toSorted()).toEqual(rows.map(row => row.line).toSorted())
  })
})
