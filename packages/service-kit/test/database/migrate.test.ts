import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, migrate, openDatabase, requireMigrated, until } from '../../src'
import { testDatabase } from '../../src/testing'

describe('migrations', () => {
  let home: Awaited<ReturnType<typeof testDatabase>>
  let database: Database
  let folder: string
  const write = async (name: string, sql: string) => {
    await mkdir(join(folder, name), { recursive: true })
    await writeFile(join(folder, name, 'migration.sql'), sql)
  }
  beforeEach(async () => {
    home = await testDatabase()
    database = openDatabase({ url: home.url })
    folder = await mkdtemp(join(tmpdir(), 'migrations-'))
    await write('20260101000000_first', 'CREATE TABLE shoes (id int PRIMARY KEY);')
    await write('20260102000000_second', 'ALTER TABLE shoes ADD COLUMN size int; INSERT INTO shoes VALUES (1, 42);')
    await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"')
  })
  afterEach(async () => {
    await database.stop?.()
    await home.drop()
    await rm(folder, { recursive: true })
  })

  it('are applied in order, once, and kept in the table that Prisma reads', async () => {
    expect(await migrate(home.url, folder)).toEqual(['20260101000000_first', '20260102000000_second'])
    expect(await migrate(home.url, folder)).toEqual([])
    const { rows } = await database.query(
      'SELECT migration_name, length(checksum) AS digits, finished_at IS NOT NULL AS finished, applied_steps_count FROM _prisma_migrations ORDER BY 1',
    )
    expect(rows).toEqual([
      { migration_name: '20260101000000_first', digits: 64, finished: true, applied_steps_count: 1 },
      { migration_name: '20260102000000_second', digits: 64, finished: true, applied_steps_count: 1 },
    ])
  })

  it('are applied once when several replicas start at the same moment', async () => {
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(home.url, folder)))
    expect(applied.flat().sort()).toEqual(['20260101000000_first', '20260102000000_second'])
    expect((await database.query('SELECT * FROM shoes')).rows).toEqual([{ id: 1, size: 42 }])
  })

  it('are refused when an applied one was edited, and then nothing is applied', async () => {
    await migrate(home.url, folder)
    await write('20260101000000_first', 'CREATE TABLE boots (id int PRIMARY KEY);')
    await write('20260103000000_third', 'CREATE TABLE hats (id int);')
    await expect(migrate(home.url, folder)).rejects.toThrow('Migration 20260101000000_first was edited after it was applied.')
    expect((await database.query("SELECT to_regclass('hats') AS hats")).rows).toEqual([{ hats: null }])
  })

  it('undo what a failing one began, name it, and go on once it is fixed', async () => {
    await write('20260103000000_third', 'CREATE TABLE hats (id int); INSERT INTO nowhere VALUES (1);')
    const error = await migrate(home.url, folder).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ message: 'Migration 20260103000000_third failed and was undone.', cause: { code: '42P01' } })
    expect((await database.query("SELECT to_regclass('hats') AS hats, to_regclass('shoes')::text AS shoes")).rows).toEqual([
      { hats: null, shoes: 'shoes' },
    ])
    await write('20260103000000_third', 'CREATE TABLE hats (id int);')
    expect(await migrate(home.url, folder)).toEqual(['20260103000000_third'])
  })

  it('wait for the lock of a table in turns, so that statements of a running release pass in between', async () => {
    await migrate(home.url, folder)
    await write('20260103000000_third', 'ALTER TABLE shoes ADD COLUMN colour text;')
    const holder = await database.pool.connect()
    await holder.query('BEGIN; SELECT * FROM shoes')
    const migrating = migrate(home.url, folder, { lockTimeoutMs: 200, lockPauseMs: 200 })
    const waits = "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'shoes'::regclass"
    await until(async () => (await database.query<{ count: number }>(waits)).rows[0]?.count === 1, 'the migration does not wait')
    // Behind a migration that waits for ever this would end in the connection's own lock timeout.
    expect((await database.query('SELECT id FROM shoes')).rows).toEqual([{ id: 1 }])
    await holder.query('COMMIT')
    holder.release()
    expect(await migrating).toEqual(['20260103000000_third'])
  })

  it('give up when the lock never comes, with nothing changed', async () => {
    await migrate(home.url, folder)
    await write('20260103000000_third', 'CREATE TABLE hats (id int); ALTER TABLE shoes ADD COLUMN colour text;')
    await database.transaction(async sql => {
      await sql.query('SELECT * FROM shoes')
      const options = { lockTimeoutMs: 50, lockTries: 2, lockPauseMs: 10 }
      await expect(migrate(home.url, folder, options)).rejects.toMatchObject({ cause: { code: '55P03' } })
    })
    expect((await database.query("SELECT to_regclass('hats') AS hats")).rows).toEqual([{ hats: null }])
  })

  it('build an index CONCURRENTLY while several replicas start, and again after a try that was cut off', async () => {
    await migrate(home.url, folder)
    // A try that was cut off leaves an index of the same name.
    await database.query('CREATE INDEX shoes_size ON shoes (id)')
    await write(
      '20260103000000_third',
      '-- Outside a transaction; a first try may have left it invalid.\nDROP INDEX CONCURRENTLY IF EXISTS shoes_size;\nCREATE INDEX CONCURRENTLY shoes_size ON shoes (size);',
    )
    const applied = await Promise.all(Array.from({ length: 3 }, () => migrate(home.url, folder)))
    expect(applied.flat()).toEqual(['20260103000000_third'])
    const { rows } = await database.query("SELECT indexdef FROM pg_indexes WHERE indexname = 'shoes_size'")
    expect(rows).toEqual([{ indexdef: 'CREATE INDEX shoes_size ON public.shoes USING btree (size)' }])
  })

  it('that are missing keep a service from starting; those of a later release do not', async () => {
    await expect(requireMigrated(home.url, folder)).rejects.toThrow('lacks 20260101000000_first, 20260102000000_second')
    await migrate(home.url, folder)
    await requireMigrated(home.url, folder)
    await write('20260103000000_third', 'CREATE TABLE hats (id int);')
    await expect(requireMigrated(home.url, folder)).rejects.toThrow(
      'lacks 20260103000000_third. Run this program with the argument migrate first.',
    )
    await migrate(home.url, folder)
    await rm(join(folder, '20260103000000_third'), { recursive: true })
    await requireMigrated(home.url, folder)
  })

  it('by a role of their own leave the role of the service rows to write and no table to change', async () => {
    const role = `writer_${process.pid}_${Date.now()}`
    const operator = openDatabase({ url: home.operatorUrl, poolSize: 1 })
    await operator.query(`CREATE ROLE ${role} LOGIN PASSWORD 'writer'`)
    try {
      await migrate(home.url, folder, { grantTo: role })
      const url = new URL(home.url)
      url.username = role
      url.password = 'writer'
      const writer = openDatabase({ url: url.href })
      await requireMigrated(url.href, folder)
      await writer.query('INSERT INTO shoes VALUES (2, 43)')
      await expect(writer.query('ALTER TABLE shoes ADD COLUMN colour text')).rejects.toMatchObject({ code: '42501' })
      await expect(writer.query('CREATE TABLE hats (id int)')).rejects.toMatchObject({ code: '42501' })
      await writer.stop?.()
    } finally {
      await operator.query(`DROP OWNED BY ${role}`)
      await operator.query(`DROP ROLE ${role}`)
      await operator.stop?.()
    }
  })
})
