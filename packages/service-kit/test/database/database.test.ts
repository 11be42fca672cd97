import { startTcpProxy } from '@ponte/local-servers'
import { type Database, isStale, isTransient, isUniqueViolation, openDatabase, until } from '../../src'
import { testDatabase } from '../../src/testing'

describe('the database', () => {
  let home: Awaited<ReturnType<typeof testDatabase>>
  let database: Database
  beforeAll(async () => {
    home = await testDatabase()
    database = openDatabase({ url: home.url, poolSize: 3, applicationName: 'kit-test' })
    await database.query('CREATE TABLE shoes (id int PRIMARY KEY, version int NOT NULL)')
    await database.query('INSERT INTO shoes VALUES (1, 1)')
  })
  afterAll(async () => {
    await database.stop?.()
    await home.drop()
  })
  const failure = async (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined).catch((error: unknown) => error)
  const terminate = (pid: number) => database.query('SELECT pg_terminate_backend($1)', [pid])
  const countOf = async (id: number) => (await database.query('SELECT 1 FROM shoes WHERE id = $1', [id])).rowCount

  it('commits a transaction, or nothing of it', async () => {
    await database.transaction(async sql => void (await sql.query('INSERT INTO shoes VALUES (2, 1)')))
    expect(await countOf(2)).toBe(1)
    const work = database.transaction(async sql => {
      await sql.query('INSERT INTO shoes VALUES (3, 1)')
      throw new Error('changed our mind')
    })
    await expect(work).rejects.toThrow('changed our mind')
    expect(await countOf(3)).toBe(0)
  })

  it('survives a connection that is cut between two statements of a transaction: transient, undone, and not used again', async () => {
    let pid = 0
    const error = await failure(
      database.transaction(async sql => {
        await sql.query('INSERT INTO shoes VALUES (4, 1)')
        pid = (await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0
        await terminate(pid)
        await until(
          async () => (await database.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid])).rowCount === 0,
          'the backend lives on',
        )
        await new Promise(resolve => setTimeout(resolve, 20))
        await sql.query('INSERT INTO shoes VALUES (5, 1)')
      }),
    )
    expect(isTransient(error)).toBe(true)
    expect([await countOf(4), await countOf(5)]).toEqual([0, 0])
    for (let i = 0; i < 6; i++) expect(await database.ready?.()).toBe(true)
  })

  it('calls transient that a database is being put back: it is not there, or takes no connections', async () => {
    const missing = openDatabase({ url: home.url.replace(/\/[^/]+$/, '/no_such_database'), poolSize: 1, applicationName: 'kit-test' })
    const error = await failure(missing.query('SELECT 1'))
    expect([Reflect.get(Object(error), 'code'), isTransient(error)]).toEqual(['3D000', true])
    await missing.stop?.()
    const refused = (message: string) => isTransient(Object.assign(new Error(message), { code: '55000' }))
    expect(refused('database "chain_listener" is not currently accepting connections')).toBe(true)
    expect(refused('lastval is not yet defined in this session')).toBe(false)
  })

  it('calls transient what may succeed a moment later', async () => {
    const cut = failure(database.query('SELECT pg_sleep(10)'))
    await until(async () => {
      const { rows } = await database.query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(10)'")
      if (rows[0]) await terminate(rows[0].pid)
      return rows.length > 0
    }, 'the query never ran')
    expect(isTransient(await cut)).toBe(true)
    const away = openDatabase({ url: 'postgres://postgres@127.0.0.1:9/none' })
    expect(isTransient(await failure(away.query('SELECT 1')))).toBe(true)
    await away.stop?.()
    expect(isTransient(await failure(away.query('SELECT 1')))).toBe(true)
    for (const code of ['40001', '40P01', '57P03', '08006', '53300', 'P1001', 'P2028', 'P2034']) expect(isTransient({ code })).toBe(true)
  })

  it('looks for it inside what wraps the driver`s error', () => {
    const driver = Object.assign(new Error('Connection terminated unexpectedly'))
    expect(isTransient(new Error('query failed', { cause: driver }))).toBe(true)
    expect(isTransient({ code: 'P2010', meta: { driverAdapterError: { cause: { kind: 'postgres', originalCode: '40P01' } } } })).toBe(true)
    const round = new Error('round')
    round.cause = round
    expect(isTransient(round)).toBe(false)
  })

  it('cancels a statement that takes too long, which may be done again', async () => {
    const hurried = openDatabase({ url: home.url, statementTimeoutMs: 100 })
    const error = await failure(hurried.query('SELECT pg_sleep(60)'))
    expect([Reflect.get(Object(error), 'code'), isTransient(error)]).toEqual(['57014', true])
    await hurried.stop?.()
  })

  it('gives up a connection that is half open, and works on with another', async () => {
    const proxy = await startTcpProxy(() => [home.url])
    const far = openDatabase({ url: proxy.through(home.url), poolSize: 1, statementTimeoutMs: 100 })
    await far.query('SELECT 1')
    proxy.freeze()
    expect(isTransient(await failure(far.query('SELECT 1')))).toBe(true)
    expect((await far.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await far.stop?.()
    await proxy.stop()
  })

  it('frees what a process locked that vanished in the midst of a transaction', async () => {
    const { rows } = await database.query<{ setting: string }>("SELECT current_setting('idle_in_transaction_session_timeout') AS setting")
    expect(rows).toEqual([{ setting: '10s' }])
    const vanished = await openDatabase({ url: home.url, settings: ['idle_in_transaction_session_timeout=100ms'] }).pool.connect()
    vanished.on('error', () => undefined)
    await vanished.query('BEGIN; UPDATE shoes SET version = version WHERE id = 1')
    await database.query('UPDATE shoes SET version = version WHERE id = 1')
    vanished.release(true)
  })

  it('calls nothing else transient', async () => {
    expect(isTransient(await failure(database.query('SELEC 1')))).toBe(false)
    expect(isTransient(await failure(database.query('INSERT INTO shoes VALUES (1, 1)')))).toBe(false)
    for (const error of [undefined, null, 'text', 5, new Error('no'), { code: 'P2002' }]) expect(isTransient(error)).toBe(false)
  })

  it('knows a duplicate by its key, and a row that moved on by its version', async () => {
    const duplicate = await failure(database.query('INSERT INTO shoes VALUES (1, 1)'))
    expect(isUniqueViolation(duplicate, 'shoes_pkey')).toBe(true)
    expect(isUniqueViolation(duplicate, 'inbox_pkey')).toBe(false)
    const update = 'UPDATE shoes SET version = CASE WHEN version = $1 THEN version + 1 END WHERE id = 1'
    await database.query(update, [1])
    const stale = await failure(database.query(update, [1]))
    expect([isStale(stale), isStale(duplicate)]).toEqual([true, false])
  })
})
