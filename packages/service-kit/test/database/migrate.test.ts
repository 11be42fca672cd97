import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, migrate, openDatabase } from '../../src'
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

  it('undo what a failing one began, say which it was, and go on once it is mended', async () => {
    await write('20260103000000_third', 'CREATE TABLE hats (id int); INSERT INTO nowhere VALUES (1);')
    const error = await migrate(home.url, folder).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ message: 'Migration 20260103000000_third failed and was undone.', cause: { code: '42P01' } })
    expect((await database.query("SELECT to_regclass('hats') AS hats, to_regclass('shoes')::text AS shoes")).rows).toEqual([
      { hats: null, shoes: 'shoes' },
    ])
    await write('20260103000000_third', 'CREATE TABLE hats (id int);')
    expect(await migrate(home.url, folder)).toEqual(['20260103000000_third'])
  })
})
