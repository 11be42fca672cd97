import type { Database } from '../database/database'
import type { Sql } from '../database/sql'
import { uuidv7Floor } from '../ids'
import type { Logger } from '../observe/logger'
import type { Counter } from '../observe/metrics'
import { every, type Loop } from '../process/every'
import { type Removed, retention } from '../process/retention'
import { aboutMessage, type Bus, type Message, MessageTooLargeError } from './bus'

const CLAIM_MAX = 200
/** Among so many of those that have waited longest merchants take turns. */
const TURNS_OF = 10 * CLAIM_MAX
const POLL_MS = 500
/** Rows that one statement of a republishing touches: short enough to hold up nothing. */
const UNSENT_AT_ONCE = 5_000
/** A turn waits this long for its confirms; a message that takes longer is marked when its own comes, and holds up no other. */
const TURN_WAIT_MS = 1_000

/** After a turn in which the broker took nothing, the next one waits, twice as long each time. */
const BACKOFF_MS_MIN = 1_000
const BACKOFF_MS_MAX = 5_000
/** Most events that are handed to the bus and not answered yet; a broker or a reader that has stopped answering is given no more. */
const UNANSWERED_MAX = 5 * CLAIM_MAX
/** A process that has claimed events and died holds them back for so long. */
const CLAIM_S = 15
/** Its age has an alert, and the broker may be set to take it meanwhile. */
const TOO_LARGE_S = '600'
/** Longer than a turn without success backs off, once it has waited for a while: the oldest of one reader that takes nothing are not all that is ever claimed. */
const REFUSED_S = 'least(greatest(1, extract(epoch FROM now() - created_at) / 8), 10)'

const IS_CLAIMABLE = 'sent_at IS NULL AND (claimed_until IS NULL OR claimed_until < now())'
// Merchants take turns in what has waited longest, so that the thousands of one hold up no other. Without a name, so that it is planned each time: the plan
// that an empty outbox gets marks up a bitmap of all that was ever sent.
const CLAIM = `
  WITH longest AS (SELECT id, created_at, merchant_id FROM outbox WHERE ${IS_CLAIMABLE} ORDER BY created_at LIMIT ${TURNS_OF}),
  turns AS (SELECT id, created_at, row_number() OVER (PARTITION BY coalesce(merchant_id, id) ORDER BY created_at) AS turn FROM longest)
  UPDATE outbox SET claimed_until = now() + interval '${CLAIM_S} seconds'
  WHERE id = ANY(ARRAY(
    SELECT outbox.id FROM turns JOIN outbox ON outbox.id = turns.id WHERE ${IS_CLAIMABLE}
    ORDER BY turn, turns.created_at LIMIT ${CLAIM_MAX} FOR UPDATE OF outbox SKIP LOCKED))
  RETURNING id, type, body, merchant_id AS "merchantId"`

/**
 * Ids begin with their time, so that what is newer is one range of the primary key. Locked in that order, because other replicas may unsend the same.
 */
const UNSEND = `
  WITH page AS (SELECT id FROM outbox WHERE id > $1 AND id < $2 ORDER BY id LIMIT ${UNSENT_AT_ONCE}),
  next AS (
    SELECT id FROM outbox WHERE id = ANY(ARRAY(SELECT id FROM page)) AND sent_at IS NOT NULL ORDER BY id FOR UPDATE),
  unsent AS (UPDATE outbox SET sent_at = NULL, claimed_until = NULL FROM next WHERE outbox.id = next.id RETURNING outbox.id)
  SELECT (SELECT count(*)::int FROM unsent) AS count, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last`
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

const DAY_MS = 86_400_000
const OUTBOX_DAYS = 7
const INBOX_DAYS = 30
/** Ids begin with their time, so that what is old is one range of the primary key. Without a name, so that it is planned for how much that is. */
const prune = (table: string, id: string, doneAt: string) => `
  WITH page AS (
    SELECT ${id} AS id FROM ${table} WHERE ${id} > $1 AND ${id} < $2 AND ${doneAt} < now() - make_interval(days => $3) ORDER BY ${id} LIMIT $4),
  gone AS (DELETE FROM ${table} WHERE ${id} = ANY(ARRAY(SELECT id FROM page)) RETURNING 1)
  SELECT (SELECT count(*)::int FROM gone) AS count, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last`
const PRUNE_OUTBOX = prune('outbox', 'id', 'sent_at')
const PRUNE_INBOX = prune('inbox', 'event_id', 'received_at')

/**
 * Publishes what the outbox holds: claims a batch, publishes, marks what was confirmed. Safe with any number of replicas. A process that dies
 * between publishing and marking publishes again when its claim ends; the readers' inboxes make that harmless.
 * It is woken by the commit; the poll is only the safety net. While the bus takes nothing it claims nothing.
 */
export function outboxRelay(
  database: Database,
  bus: Bus,
  logger: Logger,
  { unansweredMax = UNANSWERED_MAX, outboxDays = OUTBOX_DAYS, inboxDays = INBOX_DAYS } = {},
): Loop {
  let published: Counter<'outcome'> | undefined
  let backoffMs = 0
  let resumeAt = 0
  let refusals: { row: Message; error: unknown }[] = []
  const inFlight = new Set<string>()
  const mark = (ids: string[]) => database.query('UPDATE outbox SET sent_at = now() WHERE id = ANY($1::uuid[])', [ids])

  const hold = (ids: string[], seconds: string) =>
    database.query(`UPDATE outbox SET claimed_until = now() + make_interval(secs => ${seconds}) WHERE id = ANY($1::uuid[])`, [ids])

  /** One line for all of a turn, and for those that were refused since. */
  const logRefusals = () => {
    const [first] = refusals
    if (first) logger.warn('events stay in the outbox', { events: refusals.length, ...aboutMessage(first.row), error: first.error })
    refusals = []
  }
  const relay = async (signal: AbortSignal): Promise<boolean> => {
    logRefusals()
    if (!bus.accepts() || inFlight.size + CLAIM_MAX > unansweredMax || performance.now() < resumeAt) return false
    const { rows } = await database.query<Message>(CLAIM)
    const sent: string[] = []
    const unsent: string[] = []
    const tooLarge: string[] = []
    let collecting = true
    const publishing = rows
      .filter(row => !inFlight.has(row.id))
      .map(async row => {
        inFlight.add(row.id)
        let refused = unsent
        const taken = await bus.publish(row).then(
          () => true,
          error => {
            refusals.push({ row, error })
            if (error instanceof MessageTooLargeError) refused = tooLarge
            return false
          },
        )
        published?.inc({ outcome: taken ? 'confirmed' : 'refused' })
        if (collecting) (taken ? sent : refused).push(row.id)
        else if (taken)
          await mark([row.id]).catch(error => logger.warn('an event will be published again', { ...aboutMessage(row), error }))
        // Not before it is marked: the next turn may have claimed it meanwhile.
        inFlight.delete(row.id)
      })
    await settledOrLate(publishing, signal)
    collecting = false
    if (sent.length > 0) await mark(sent)
    logRefusals()
    if (unsent.length > 0) await hold(unsent, REFUSED_S)
    if (tooLarge.length > 0) await hold(tooLarge, TOO_LARGE_S)
    backoffMs = unsent.length > 0 && sent.length === 0 ? Math.min(BACKOFF_MS_MAX, Math.max(BACKOFF_MS_MIN, backoffMs * 2)) : 0
    resumeAt = performance.now() + backoffMs
    return rows.length === CLAIM_MAX && backoffMs === 0
  }
  const loop = every('outbox relay', POLL_MS, relay, logger)
  const removeOlder = (statement: string, days: number) => async (limit: number, after: string | null) => {
    const older = uuidv7Floor(new Date(Date.now() - days * DAY_MS))
    const { rows } = await database.query<Removed<string>>(statement, [after ?? FIRST_ID, older, days, limit])
    return rows[0] ?? { count: 0, last: null }
  }
  // Loops of their own: publishing waits for no retention.
  const pruning = [
    retention('outbox retention', removeOlder(PRUNE_OUTBOX, outboxDays), logger),
    retention('inbox retention', removeOlder(PRUNE_INBOX, inboxDays), logger),
  ]
  return {
    ...loop,
    async start() {
      await loop.start?.()
      for (const part of pruning) await part.start?.()
    },
    async stop() {
      await Promise.all([...pruning, loop].map(part => part.stop?.()))
    },
    observe(metrics) {
      metrics.observed('ponte_outbox_oldest_age_seconds', 'Age of the oldest event not yet published', () => outboxAge(database))
      published = metrics.counter('ponte_outbox_published_total', 'Events handed to the bus, by its answer', {
        outcome: ['confirmed', 'refused'],
      })
    },
    busy: async () =>
      Boolean((await database.query('SELECT 1 FROM outbox WHERE sent_at IS NULL ORDER BY created_at LIMIT 1')).rowCount) ||
      (await loop.busy?.()) === true,
  }
}

/** The oldest unsent event's age in seconds; 0 when all are sent. */
export async function outboxAge(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ age: string }>(
    'SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::text AS age FROM outbox WHERE sent_at IS NULL',
  )
  return Number(rows[0]?.age ?? 0)
}

/** Resolves when all have settled, after a while, or at once when the relay stops. */
async function settledOrLate(work: readonly Promise<void>[], signal: AbortSignal): Promise<void> {
  let done: () => void = () => undefined
  const late = new Promise<void>(resolve => {
    done = resolve
  })
  const timer = setTimeout(done, TURN_WAIT_MS)
  signal.addEventListener('abort', done)
  await Promise.race([Promise.all(work), late])
  clearTimeout(timer)
  signal.removeEventListener('abort', done)
}

/**
 * Has the outbox publish again what it published between two moments, with the same ids; what retention has removed is gone. Returns how many events, null for a
 * database without an outbox.
 */
export async function republish(database: Database, since: Date, until: Date): Promise<number | null> {
  const { rows: tables } = await database.query<{ name: string | null }>("SELECT to_regclass('outbox')::text AS name")
  if (!tables[0]?.name) return null
  const [floor, ceiling] = [uuidv7Floor(since), uuidv7Floor(until)]
  let events = 0
  for (let after = floor; ; ) {
    const { rows } = await database.query<{ count: number; last: string | null }>({ name: 'outbox-unsend', text: UNSEND }, [after, ceiling])
    events += rows[0]?.count ?? 0
    if (!rows[0]?.last) return events
    after = rows[0].last
  }
}
