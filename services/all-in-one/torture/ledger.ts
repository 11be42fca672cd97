import pg from 'pg'
import { type ServiceName, serviceNames } from '../src'
import type { World } from '../test/system'

export type Row = Record<string, unknown>

/** Every service's database, read from the outside and past all proxies. */
export interface Ledger {
  query<T extends Row = Row>(service: ServiceName, sql: string, values?: unknown[]): Promise<T[]>
  /** Takes back that some events were published: they go out again, out of order, as duplicates. */
  publishAgain(service: ServiceName, count: number): Promise<void>
  /** Reorganisations reach this deep. */
  reorgDepthMax: number
  stop(): Promise<void>
}

export function openLedger(world: World, options: { reorgDepthMax: number }): Ledger {
  const pools = new Map(serviceNames.map(name => [name, new pg.Pool({ connectionString: world.place.databaseUrl(name), max: 2 })]))
  for (const pool of pools.values()) pool.on('error', () => undefined)
  const query: Ledger['query'] = async (service, sql, values) => {
    const pool = pools.get(service)
    if (!pool) throw new Error(`There is no database of ${service}.`)
    return (await pool.query(sql, values)).rows
  }
  return {
    query,
    reorgDepthMax: options.reorgDepthMax,
    async publishAgain(service, count) {
      // The dispatcher publishes nothing and has no outbox.
      if (service === 'webhook-dispatcher') return
      await query(
        service,
        'UPDATE outbox SET sent_at = NULL, claimed_until = NULL WHERE id IN (SELECT id FROM outbox WHERE sent_at IS NOT NULL ORDER BY random() LIMIT $1)',
        [count],
      )
    },
    stop: async () => void (await Promise.all([...pools.values()].map(pool => pool.end()))),
  }
}
