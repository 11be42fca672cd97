import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import pg from 'pg'
import type { World } from '../world'

/** A database: of a service, or of the listener of a further chain. */
export type Books = ServiceName | `listener ${number}`
export const otherListener = (chainId: number): Books => `listener ${chainId}`

export type Row = Record<string, unknown>

/** Every database, read from the outside and past all proxies. */
export interface Ledger {
  query<T extends Row = Row>(name: Books, sql: string, values?: unknown[]): Promise<T[]>
  /** Takes back that some events were published: they go out again, out of order, as duplicates. */
  publishAgain(name: Books, count: number): Promise<void>
  /** While on, each new event waits a random time before it may be published: events overtake one another. */
  holdBack(name: Books, on: boolean): Promise<void>
  stop(): Promise<void>
}

/** The database of each network's listener, in the order of the chains. */
export const listenersOf = ({ otherChains }: Pick<World, 'otherChains'>): Books[] => [
  'chain-listener',
  ...otherChains.map(({ chainId }) => otherListener(chainId)),
]
/** Databases of those that publish, and so have an outbox. */
export const publishersOf = (world: Pick<World, 'otherChains'>): Books[] => [
  'api-gateway',
  'orders',
  'subscriptions',
  ...listenersOf(world),
]

export function openLedger(urlOf: (service: ServiceName) => string, others: readonly (readonly [Books, string])[] = []): Ledger {
  // The harness may write to the books while services may not.
  const options = '-c default_transaction_read_only=off'
  const urls = [...serviceNames.map(name => [name, urlOf(name)] as const), ...others]
  const pools = new Map<Books, pg.Pool>(urls.map(([name, connectionString]) => [name, new pg.Pool({ connectionString, max: 2, options })]))
  for (const pool of pools.values()) pool.on('error', () => undefined)
  const query: Ledger['query'] = async (name, sql, values) => {
    const pool = pools.get(name)
    if (!pool) throw new Error(`There is no database ${name}.`)
    return (await pool.query(sql, values)).rows
  }
  return {
    query,
    async publishAgain(name, count) {
      await query(
        name,
        'UPDATE outbox SET sent_at = NULL, claimed_until = NULL WHERE id IN (SELECT id FROM outbox WHERE sent_at IS NOT NULL ORDER BY random() LIMIT $1)',
        [count],
      )
    },
    async holdBack(name, on) {
      const what = on ? "SET DEFAULT now() + random() * interval '5 seconds'" : 'DROP DEFAULT'
      await query(name, `ALTER TABLE outbox ALTER COLUMN claimed_until ${what}`)
    },
    stop: async () => void (await Promise.all([...pools.values()].map(pool => pool.end()))),
  }
}
