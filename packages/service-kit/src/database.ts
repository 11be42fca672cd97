import pg from 'pg'
import type { Part } from './service'

/** Only what code needs of a connection: a text with numbered parameters. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string | { name: string; text: string },
    values?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>
}

export interface Database extends Part, Sql {
  pool: pg.Pool
  /** Runs `work` in one transaction on one connection; rolls back when it throws. No network call belongs inside. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
}

const POOL_SIZE = 10
/**
 * Every question has an index made for it, and queues change faster than their statistics: a planner that may read a table whole, or mark up a
 * bitmap of what is long gone from the queue, does so for minutes. With two replicas of orders an order cost PostgreSQL 6.7 ms so, and 1.8 ms now.
 */
const PLANNER = ['enable_seqscan=off', 'enable_bitmapscan=off']
/** A replica that is frozen in the midst of a transaction, or an operator's forgotten one, makes nobody wait for ever. */
const PATIENCE = ['lock_timeout=5s']

export interface DatabaseOptions {
  url: string
  poolSize?: number
  applicationName?: string
  /** Settings of PostgreSQL for these connections beside the kit's own, as `name=value`; what `options` in the URL says wins over all. */
  settings?: readonly string[]
}

/** Opens a pool. Connections are made on demand; a broken idle connection is dropped, not thrown. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: withSettings(options.url, [...PLANNER, ...PATIENCE, ...(options.settings ?? [])]),
    max: options.poolSize ?? POOL_SIZE,
    application_name: options.applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // The pool already dropped the connection; without a listener the event would end the process.
  pool.on('error', () => undefined)
  const query: Database['query'] = (text, values) =>
    pool.query(typeof text === 'string' ? { text } : text, values ? [...values] : undefined)
  return {
    name: 'database',
    pool,
    query,
    ready: async () => (await pool.query('SELECT 1')).rowCount === 1,
    stop: () => pool.end(),
    observe(metrics) {
      metrics.observed('ponte_database_connections_max', 'Connections this process may hold', () => options.poolSize ?? POOL_SIZE)
      metrics.observed('ponte_database_connections_used', 'Connections at work now', () => pool.totalCount - pool.idleCount)
      metrics.observed('ponte_database_connections_awaited', 'Statements that wait for a connection', () => pool.waitingCount)
    },
    async transaction(work) {
      const client = await pool.connect()
      let broken: Error | undefined
      // A connection that breaks between two statements says so by an event, which without a listener would end the process.
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

function withSettings(databaseUrl: string, settings: readonly string[]): string {
  const url = new URL(databaseUrl)
  const own = url.searchParams.get('options')
  url.searchParams.set('options', [...settings.map(setting => `-c ${setting}`), ...(own ? [own] : [])].join(' '))
  return url.href
}

const field = (error: unknown, name: string): string | undefined => {
  const value = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : undefined
}

/** True when the statement hit the named unique or primary key: somebody else was first. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  field(error, 'code') === '23505' && field(error, 'constraint') === constraint

/**
 * True when a row changed between finding and committing it. Stores write `version = CASE WHEN version = $n THEN version + 1 END`:
 * a version that moved on becomes NULL, which the column refuses, and the whole statement is undone.
 */
export const isStale = (error: unknown): boolean => field(error, 'code') === '23502' && field(error, 'column') === 'version'

/** It waited for another statement's lock, in a circle or too long, and was undone for certain. */
export const isLockedOut = (error: unknown): boolean => /^(40P01|55P03)$/.test(field(error, 'code') ?? '')

const TRANSIENT_STATE = /^(08|53|57P|40001|40P01|55P03|25006|XX000)/
const TRANSIENT_NODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/
const TRANSIENT_PRISMA = /^P(1001|1002|1008|1017|2024|2034|2037)$/
const TRANSIENT_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end/
/** Where Prisma and Node keep the error that they wrap. */
const WRAPPERS = ['cause', 'meta', 'driverAdapterError']
const WRAPPED_DEPTH_MAX = 6

/** True when the database could not be asked, or lost a race by itself: the same work may succeed a moment later. */
export function isTransient(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > WRAPPED_DEPTH_MAX) return false
  for (const code of [field(error, 'code') ?? '', field(error, 'originalCode') ?? '']) {
    if (TRANSIENT_STATE.test(code) || TRANSIENT_NODE.test(code) || TRANSIENT_PRISMA.test(code)) return true
  }
  if (error instanceof Error && TRANSIENT_TEXT.test(error.message)) return true
  return WRAPPERS.some(wrapper => isTransient(Reflect.get(error, wrapper), depth + 1))
}
