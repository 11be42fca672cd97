import type pg from 'pg'

/**
 * Throws when something between this connection and PostgreSQL may hand it another server connection: prepared statements, settings and the
 * leader's lock belong to one. A pooler answers with a process id of its own.
 */
export async function refusePooler(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  if (rows[0]?.pid === Reflect.get(client, 'processID')) return
  throw new Error(
    'DATABASE_URL leads to a connection pooler. Name PostgreSQL itself: each process keeps DATABASE_POOL connections, with prepared statements.',
  )
}
