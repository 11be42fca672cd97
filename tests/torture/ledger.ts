import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import pg from 'pg'

export type Row = Record<string, unknown>

/** Every service's database, read from the outside and past all proxies. */
export interface Ledger {
  query<T extends Row = Row>(service: ServiceName, sql: string, values?: unknown[]): Promise<T[]>
  /** Takes back that some events were published: they go out again, out of order, as duplicates. */
  publishAgain(service: ServiceName, count: number): Promise<void>
  /** While on, each new event waits a random time before it may be published: events overtake one another. */
  holdBack(service: ServiceName, on: boolean): Promise<void>
  stop(): Promise<void>
}

/** The services that publish, and so have an outbox. */
export const publishers = ['api-gateway', 'orders', 'subscriptions', 'chain-listener'] as const

export function openLedger(urlOf: (service: ServiceName) => string): Ledger {
  // The harness may write to the books while services may not.
  const options = '-c default_transaction_read_only=off'
  const pools = new Map(serviceNames.map(name => [name, new pg.Pool({ connectionString: urlOf(name), max: 2, options })]))
  for (const pool of pools.values()) pool.on('error', () => undefined)
  const query: Ledger['query'] = async (service, sql, values) => {
    const pool = pools.get(service)
    if (!pool) throw new Error(`There is no database of ${service}.`)
    return (await pool.query(sql, values)).rows
  }
  return {
    query,
    async publishAgain(service, count) {
      await query(
        service,
        'UPDATE outbox SET sent_at = NULL, claimed_until = NULL WHERE id IN (SELECT id FROM outbox WHERE sent_at IS NOT NULL ORDER BY random() LIMIT $1)',
        [count],
      )
    },
    async holdBack(service, on) {
      const what = on ? "SET DEFAULT now() + random() * interval '5 seconds'" : 'DROP DEFAULT'
      await query(service, `ALTER TABLE outbox ALTER COLUMN claimed_until ${what}`)
    },
    stop: async () => void (await Promise.all([...pools.values()].map(pool => pool.end()))),
  }
}
