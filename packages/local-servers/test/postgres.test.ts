import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Postgres, startPostgres } from '../src'

// The folder is made by this process for itself alone: when root runs the tests, PostgreSQL's account cannot reach it.
const folder = mkdtempSync(join(tmpdir(), 'ponte-postgres-'))
const dataDir = join(folder, 'data')
let running: Postgres | undefined

const start = async (port = 0) => {
  running = await startPostgres({ dataDir, port, portSetting: 'PONTE_PG_PORT', password: 'a b/c@d' })
  return running
}

async function query(postgres: Postgres, database: string, text: string) {
  const client = new Client({ connectionString: postgres.url(database) })
  await client.connect()
  const { rows } = await client.query(text)
  await client.end()
  return rows
}

afterEach(() => running?.stop())
afterAll(() => rmSync(running?.dataDir ?? dataDir, { recursive: true, force: true }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a second start continues with the data of the first', async () => {
  const first = await start()
  await first.ensureDatabases(['orders'])
  await query(first, 'orders', 'CREATE TABLE kept AS SELECT 7 AS seven')
  await first.stop()

  const second = await start()
  await second.ensureDatabases(['orders', 'web-hooks'])
  expect(await query(second, 'orders', 'SELECT seven FROM kept')).toEqual([{ seven: 7 }])
  expect(await query(second, 'web-hooks', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('a lock file that names another process is no obstacle', async () => {
  const { stop } = await start()
  await stop()
  writeFileSync(join(dataDir, 'postmaster.pid'), `${process.pid}\n`)
  expect(await query(await start(), 'postgres', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('a folder that is being served is refused', async () => {
  const { dataDir } = await start()
  await expect(start()).rejects.toThrow(`PostgreSQL is already running on ${dataDir}`)
})

test('a taken port is an error that names its setting', async () => {
  const other = createServer()
  const port = await new Promise<number>(resolve => other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)))
  await expect(start(port)).rejects.toThrow(`port ${port} of 127.0.0.1: it is taken. Set PONTE_PG_PORT to a free port`)
  other.close()
})
