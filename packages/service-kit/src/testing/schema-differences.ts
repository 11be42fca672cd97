import { readFile } from 'node:fs/promises'
import pg from 'pg'

const PRISMA_TYPES: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Json: 'jsonb',
  Bytes: 'bytea',
  DateTime: 'timestamp(3) without time zone',
  '@db.SmallInt': 'smallint',
  '@db.Uuid': 'uuid',
  '@db.Timestamptz': 'timestamp with time zone',
  '@db.Timestamptz(3)': 'timestamp(3) with time zone',
}

/**
 * Where a migrated database and `schema.prisma` disagree about a column, its type or whether it may be null; empty when they agree. Migrations
 * are written by hand, so nothing else notices a column that one of the two forgot.
 */
export async function schemaDifferences(databaseUrl: string, schemaFile: string): Promise<string[]> {
  const wanted = prismaColumns(await readFile(schemaFile, 'utf8'))
  const found = await liveColumns(databaseUrl)
  const names = [...new Set([...wanted.keys(), ...found.keys()])].sort()
  return names.flatMap(name => {
    const [inSchema, live] = [wanted.get(name) ?? 'absent', found.get(name) ?? 'absent']
    return inSchema === live ? [] : [`${name}: schema.prisma says ${inSchema}, the migrations say ${live}`]
  })
}

function prismaColumns(schema: string): Map<string, string> {
  const models = [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)]
  const names = new Set(models.map(([, name]) => name))
  const columns = models.flatMap(([, name, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name
    return body.split('\n').flatMap(line => {
      const [, field, type = '', suffix, rest = ''] = /^\s+(\w+)\s+(\w+)(\?|\[\])?(.*)$/.exec(line) ?? []
      if (!field || names.has(type)) return []
      const native = /@db\.\w+(\(\d+\))?/.exec(rest)?.[0]
      const known = PRISMA_TYPES[native ?? type] ?? `${type} ${native ?? ''}`
      const column = /@map\("(\w+)"\)/.exec(rest)?.[1] ?? field
      return [[`${table}.${column}`, `${known}${suffix === '[]' ? '[]' : ''}${suffix === '?' ? '' : ' not null'}`] as const]
    })
  })
  return new Map(columns)
}

async function liveColumns(databaseUrl: string): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; type: string }>(`
      SELECT c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END AS type
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
        AND c.relname <> '_prisma_migrations'`)
    return new Map(rows.map(({ name, type }) => [name, type]))
  } finally {
    await client.end()
  }
}
