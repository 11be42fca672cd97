import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import pg from 'pg'

// Prints what `prisma db push` would change in a database to make it what a schema.prisma states; nothing when they agree. The engine is the one of
// Prisma's own commands, compiled to WebAssembly, so that no binary is downloaded.

const [, , url, schemaFile] = process.argv
const files = [{ path: 'schema.prisma', content: readFileSync(schemaFile, 'utf8') }]

const engines = dirname(fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm')))
const glue = await import(pathToFileURL(join(engines, 'schema_engine_bg.js')).href)
const { instance } = await WebAssembly.instantiate(readFileSync(join(engines, 'schema_engine_bg.wasm')), { './schema_engine_bg.js': glue })
glue.__wbg_set_wasm(instance.exports)
instance.exports.__wbindgen_start()
globalThis.PRISMA_WASM_PANIC_REGISTRY = { set_message: message => console.error(message) }

const PG_CHAR = 18
const PG_BPCHAR = 1042
const PRISMA_CHARACTER = 6
const charColumns = new Set()

/** The catalogue's type "char" is unknown to the adapter: it is read as text, and handed to the engine as the character that it expects. */
class CatalogueClient extends pg.Client {
  async query(...args) {
    const result = await super.query(...args)
    for (const field of result?.fields ?? []) {
      if (field.dataTypeID !== PG_CHAR) continue
      field.dataTypeID = PG_BPCHAR
      charColumns.add(field.name)
    }
    return result
  }
}

function withCharacters(connection) {
  const queryRaw = connection.queryRaw.bind(connection)
  connection.queryRaw = async query => {
    const result = await queryRaw(query)
    for (const [index, name] of result.columnNames.entries()) {
      if (!charColumns.has(name)) continue
      result.columnTypes[index] = PRISMA_CHARACTER
      for (const row of result.rows) row[index] ||= ' '
    }
    return result
  }
  return connection
}

const pool = new pg.Pool({ connectionString: url, Client: CatalogueClient })
pool.query = async (...args) => {
  const client = await pool.connect()
  return client.query(...args).finally(() => client.release())
}
const adapter = new PrismaPg(pool)
const engine = await glue.SchemaEngine.new(
  { datamodels: files.map(({ path, content }) => [path, content]) },
  () => undefined,
  bindMigrationAwareSqlAdapterFactory({
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    connect: async () => withCharacters(await adapter.connect()),
    connectToShadowDb: async () => withCharacters(await adapter.connectToShadowDb()),
  }),
)
const { stdout } = await engine.diff({
  from: { tag: 'schemaDatasource', files, configDir: dirname(schemaFile) },
  to: { tag: 'schemaDatamodel', files },
  script: true,
  exitCode: null,
  filters: { externalTables: [], externalEnums: [] },
})
if (!stdout.includes('This is an empty migration')) process.stdout.write(stdout)
process.exit(0)
