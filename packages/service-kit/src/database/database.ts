import pg from 'pg'
import type { Part } from '../process/service'
import type { Sql } from './sql'
import { commitUnit, type Unit } from './unit-of-work'

export interface Database extends Part, Sql {
  pool: pg.Pool
  /** Writes one unit of work in one statement: everything in it, or nothing. */
  commit<Row extends pg.QueryResultRow = pg.QueryResultRow>(unit: Unit): Promise<{ rows: Row[]; rowCount: number | null }>
  /** Runs `work` in one transaction on one connection; rolls back when it throws. No network call belongs inside. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** False when the server takes connections and answers nothing; an error is an answer. */
  isAlive(): Promise<boolean>
}

const POOL_SIZE = 10
/**
 * PostgreSQL keeps the plan of a named statement where it costs no more than one for its very values. So that one that was made while a table was empty serves
 * until the next ANALYZE, it may not read a table whole where an index will do; nor is it compiled, which is done anew for each execution.
 */
const PLANNER = ['enable_seqscan=off', 'jit=off']
/** A replica that is frozen in the midst of a transaction, or an operator's forgotten one, holds up no statement for ever. */
const LOCK_TIMEOUT = 'lock_timeout=5s'
/** A process that vanished in the midst of a transaction, its connection half open, frees the rows that it locked. */
const IDLE_TIMEOUT = 'idle_in_transaction_session_timeout=10s'
const STATEMENT_TIMEOUT_MS = 30_000
/** After the server should have cancelled a statement, its connection is taken for dead. */
const ANSWER_GRACE_MS = 2_000
/** For a sign of life. */
const LOOK_MS = 1_200
const LOOK_IDLE_MS = 10_000
/** A statement that was answered so lately is a sign of life. */
const HEARD_MS = 500

export interface DatabaseOptions {
  url: string
  poolSize?: number
  applicationName?: string
  statementTimeoutMs?: number
  /** Settings of PostgreSQL for these connections beside the kit's own, as `name=value`; `options` in the URL win over all. */
  settings?: readonly string[]
}

/** Opens a pool. Connections are made on demand; a broken idle connection is dropped, not thrown. */
export function openDatabase(options: DatabaseOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
  const settings = [...PLANNER, LOCK_TIMEOUT, IDLE_TIMEOUT, `statement_timeout=${statementTimeoutMs}`, ...(options.settings ?? [])]
  const pool = new pg.Pool({
    connectionString: withSettings(options.url, settings),
    query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    max: options.poolSize ?? POOL_SIZE,
    application_name: options.applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // The pool already dropped the connection; without a listener the event would end the process. So would one in the packet that opens a connection, before its
  // user can listen.
  pool.on('error', () => undefined)
  pool.on('connect', client => client.on('error', () => undefined))
  const signs = signsOfLife(options.url, pool)
  const query: Database['query'] = (text, values) =>
    pool.query(typeof text === 'string' ? { text } : text, values ? [...values] : undefined)
  return {
    name: 'database',
    pool,
    query,
    commit: unit => commitUnit({ query }, unit),
    ready: async () => (await pool.query('SELECT 1')).rowCount === 1,
    isAlive: async () => (await signs.look()) !== 'silent',
    async stop() {
      await Promise.all([pool.end(), signs.stop()])
    },
    observe(metrics) {
      metrics.observed('ponte_database_connections_max', 'Connections this process may hold', () => options.poolSize ?? POOL_SIZE)
      metrics.observed('ponte_database_connections_used', 'Connections at work now', () => pool.totalCount - pool.idleCount)
      metrics.observed('ponte_database_connections_awaited', 'Statements that wait for a connection', () => pool.waitingCount)
      metrics.observed('ponte_database_answers', '1 while PostgreSQL answers this process, and 0 while it does not', async () =>
        (await signs.look()) === 'answers' ? 1 : 0,
      )
    },
    async transaction(work) {
      const client = await pool.connect()
      let broken: Error | undefined
      // A connection that breaks between two statements emits an event, which without a listener would end the process.
      const onError = (error: Error) => {
        broken = error
      }
      client.on('error', onError)
      try {
        await client.query('BEGIN')
        const result = await work(client as Sql)
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK').catch(rollbackError => {
          broken ??= rollbackError
        })
        throw error
      } finally {
        client.removeListener('error', onError)
        client.release(broken)
      }
    },
  }
}

type Sign = 'answers' | 'refuses' | 'silent'

/** On a connection of its own: those of the pool may all wait for locks. */
function signsOfLife(url: string, used: pg.Pool) {
  let heardAt = Number.NEGATIVE_INFINITY
  used.on('release', error => {
    if (!error) heardAt = performance.now()
  })
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    query_timeout: LOOK_MS,
    connectionTimeoutMillis: LOOK_MS,
    idleTimeoutMillis: LOOK_IDLE_MS,
    allowExitOnIdle: true,
  })
  pool.on('error', () => undefined)
  pool.on('connect', client => client.on('error', () => undefined))
  let looking: Promise<Sign> | undefined
  const look = (): Promise<Sign> => {
    const since = performance.now()
    if (since - heardAt < HEARD_MS) return Promise.resolve('answers')
    const inVain = (): Sign => (heardAt > since ? 'answers' : 'silent')
    const answered = pool.query('SELECT 1').then(
      (): Sign => 'answers',
      error => (/timeout/i.test(String(error)) ? inVain() : 'refuses'),
    )
    // Our own process may be the one that stood still: what has come meanwhile is read before the time is up.
    const late = new Promise<Sign>(resolve => {
      const timer = setTimeout(() => setImmediate(() => setImmediate(() => resolve(inVain()))), LOOK_MS)
      answered.finally(() => clearTimeout(timer))
    })
    return Promise.race([answered, late])
  }
  return {
    look() {
      looking ??= look().finally(() => {
        looking = undefined
      })
      return looking
    },
    stop: () => pool.end(),
  }
}

function withSettings(databaseUrl: string, settings: readonly string[]): string {
  const url = new URL(databaseUrl)
  const own = url.searchParams.get('options')
  url.searchParams.set('options', [...settings.map(setting => `-c ${setting}`), ...(own ? [own] : [])].join(' '))
  return url.href
}
