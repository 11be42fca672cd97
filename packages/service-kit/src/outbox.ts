import { type NewEvent, parseEvent } from '@ponte/contracts'
import type { Bus } from './bus'
import type { Database, Sql } from './database'
import { every, type Loop } from './every'
import { uuidv7 } from './ids'
import type { Logger } from './logger'

/** Columns of outbox rows as arrays, for `unnest` inside the statement that commits the state (design, section 9). */
export interface OutboxRows {
  ids: string[]
  types: string[]
  bodies: string[]
}

/** Gives each event its id and time and checks it against its schema. A ZodError here is a bug of the producer, before anything is written. */
export function toOutbox(events: readonly NewEvent[], at: Date, trace: string | null = null): OutboxRows {
  const rows: OutboxRows = { ids: [], types: [], bodies: [] }
  for (const { type, data } of events) {
    const event = parseEvent({ id: uuidv7(), type, occurred_at: at.toISOString(), data, trace })
    rows.ids.push(event.id)
    rows.types.push(event.type)
    rows.bodies.push(JSON.stringify(event))
  }
  return rows
}

/** Writes outbox rows inside the caller's transaction, for stores that commit in several statements. */
export async function insertOutbox(sql: Sql, rows: OutboxRows): Promise<void> {
  if (rows.ids.length === 0) return
  await sql.query('INSERT INTO outbox (id, type, body) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])', [
    rows.ids,
    rows.types,
    rows.bodies,
  ])
}

const BATCH = 200
const POLL_MS = 500
const PRUNE_MS = 3_600_000
const PUBLISH_WAIT_MS = 10_000

const CLAIM = `
  UPDATE outbox SET claimed_until = now() + interval '15 seconds'
  WHERE id = ANY(ARRAY(
    SELECT id FROM outbox WHERE sent_at IS NULL AND (claimed_until IS NULL OR claimed_until < now())
    ORDER BY created_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))
  RETURNING id, type, body`

/**
 * Publishes what the outbox holds: claims a batch, publishes, marks what was confirmed. Safe with any number of replicas. A process that dies
 * between publishing and marking publishes again when its claim ends; the readers' inboxes make that harmless.
 * It is woken by the commit; the poll is only the safety net.
 */
export function outboxRelay(database: Database, bus: Bus, logger: Logger): Loop {
  let prunedAt = 0
  const relay = async (): Promise<boolean> => {
    const { rows } = await database.query<{ id: string; type: string; body: string }>({ name: 'outbox-claim', text: CLAIM })
    if (rows.length === 0) {
      if (Date.now() - prunedAt < PRUNE_MS) return false
      prunedAt = Date.now()
      await prune(database)
      return false
    }
    const outcomes = await Promise.all(rows.map(row => confirmed(bus.publish(row), row.type, logger)))
    const sent = rows.filter((_, index) => outcomes[index]).map(row => row.id)
    const unsent = rows.filter((_, index) => !outcomes[index]).map(row => row.id)
    if (sent.length > 0) await database.query('UPDATE outbox SET sent_at = now() WHERE id = ANY($1::uuid[])', [sent])
    if (unsent.length > 0)
      await database.query("UPDATE outbox SET claimed_until = now() + interval '1 second' WHERE id = ANY($1::uuid[])", [unsent])
    return rows.length === BATCH
  }
  const loop = every('outbox relay', POLL_MS, relay, logger)
  return {
    ...loop,
    busy: async () =>
      Boolean((await database.query('SELECT 1 FROM outbox WHERE sent_at IS NULL LIMIT 1')).rowCount) || (await loop.busy?.()) === true,
  }
}

/** The oldest unsent event's age in seconds; 0 when all are sent. */
export async function outboxAge(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ age: string }>(
    'SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::text AS age FROM outbox WHERE sent_at IS NULL',
  )
  return Number(rows[0]?.age ?? 0)
}

async function confirmed(published: Promise<void>, type: string, logger: Logger): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(() => resolve(false), PUBLISH_WAIT_MS)
  })
  const outcome = published.then(
    () => true,
    error => {
      logger.warn('an event stays in the outbox', { type, error })
      return false
    },
  )
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer))
}

async function prune(database: Database): Promise<void> {
  await database.query("DELETE FROM outbox WHERE sent_at < now() - interval '7 days'")
  await database.query("DELETE FROM inbox WHERE received_at < now() - interval '30 days'")
}
