import type { ListDeliveries, ReplayDeliveries } from '@ponte/contracts'
import { type Database, isUniqueViolation, type Statement, uuidv7Floor } from '@ponte/service-kit'
import type { Attempt, Delivery, PrismaClient } from '../generated/client'
import { keyset } from './keyset'
import { SPECIFIED } from './recipients'

/** Raw SQL because insert and lane are one statement. A replay is a new delivery of the same event that names the old one; one that is on its way already stands for another. */
const REPLAY: Statement = {
  name: 'delivery-replay',
  text: `
  WITH due AS (
    INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, next_attempt_at, replay_of)
    SELECT new_id(), event_id, merchant_id, event_type, 'pending', now(), id FROM deliveries WHERE id = $id
    RETURNING id, merchant_id
  )
  SELECT (SELECT id FROM due) AS id, touch_lanes(ARRAY(SELECT merchant_id FROM due))`,
}

/** Raw SQL: the same for a time range, oldest first. An event that never had a delivery, for want of a webhook_url, gets its first. */
const REPLAY_RANGE: Statement = {
  name: 'deliveries-replay',
  text: `
  WITH range AS (
    SELECT id, merchant_id, type, created_at FROM events
    WHERE merchant_id = $merchant_id AND created_at >= $from AND created_at < $to AND NOT waiting AND ($type::text IS NULL OR type = $type)
      AND type IN (${SPECIFIED})
      AND ($all::boolean OR NOT (
        EXISTS (SELECT 1 FROM deliveries d WHERE d.id = events.id AND status <> 'dead')
        OR EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND replay_of IS NOT NULL AND status <> 'dead')))
    ORDER BY created_at, id LIMIT $limit + 1
  ), chosen AS (
    SELECT * FROM range ORDER BY created_at, id LIMIT $limit
  ), due AS (
    INSERT INTO deliveries (id, event_id, merchant_id, event_type, status, next_attempt_at, replay_of)
    SELECT CASE WHEN d.id IS NULL THEN chosen.id ELSE new_id() END, chosen.id, chosen.merchant_id, type, 'pending', now(), d.id
    FROM chosen LEFT JOIN deliveries d ON d.id = chosen.id
    ON CONFLICT DO NOTHING
    RETURNING merchant_id
  )
  SELECT (SELECT count(*)::int FROM due) AS replayed,
    (SELECT created_at FROM range ORDER BY created_at, id OFFSET $limit) AS next_at,
    touch_lanes(ARRAY(SELECT merchant_id FROM due))`,
}

/** Raw SQL: four counts in one round trip. Ids begin with their time, so that the last day of a merchant is one range of the index. */
const OVERVIEW = `
  SELECT
    (SELECT count(*)::int FROM deliveries WHERE merchant_id = $1 AND status = 'pending' AND attempts = 0) AS pending,
    (SELECT count(*)::int FROM deliveries WHERE merchant_id = $1 AND status = 'pending' AND attempts > 0) AS retrying,
    (SELECT count(*)::int FROM deliveries WHERE merchant_id = $1 AND id >= $2 AND status = 'delivered') AS delivered_24h,
    (SELECT count(*)::int FROM deliveries WHERE merchant_id = $1 AND id >= $2 AND status = 'dead') AS dead_24h`

export interface Overview {
  pending: number
  retrying: number
  delivered_24h: number
  dead_24h: number
}

/** The open replay may end between the insert that it refuses and the look for it. */
const REPLAY_TRIES = 5
const DAY_MS = 86_400_000

export type DeliveryDetail = Delivery & { attemptLog: Attempt[]; body: Buffer }

export function deliveryStore(database: Database, prisma: PrismaClient) {
  const inFlightOf = async (merchantId: string): Promise<string[]> =>
    (await prisma.lane.findUnique({ where: { merchantId } }))?.inFlight ?? []
  return {
    async find(id: string): Promise<Delivery | null> {
      const row = await prisma.delivery.findUnique({ where: { id } })
      return row && withInFlight(row, await inFlightOf(row.merchantId))
    },

    /** A delivery with its attempts and its body, all of one moment: a result that is recorded meanwhile shows in all or in none. */
    detail: (id: string): Promise<DeliveryDetail | null> =>
      prisma.$transaction(
        async snapshot => {
          const row = await snapshot.delivery.findUnique({ where: { id } })
          if (!row) return null
          const lane = await snapshot.lane.findUnique({ where: { merchantId: row.merchantId } })
          const attempts = await snapshot.attempt.findMany({ where: { deliveryId: id }, orderBy: { ordinal: 'asc' } })
          const event = await snapshot.event.findUnique({ where: { id: row.eventId } })
          return { ...withInFlight(row, lane?.inFlight ?? []), attemptLog: attempts, body: Buffer.from(event?.body ?? '') }
        },
        { isolationLevel: 'RepeatableRead' },
      ),

    async list(merchantId: string, query: ListDeliveries, limit: number): Promise<Delivery[]> {
      const inFlight = await inFlightOf(merchantId)
      const rows = await prisma.delivery.findMany({
        where: {
          merchantId,
          AND: [statusIs(query.status, inFlight), keyset.where(query)],
          ...(query.event_type ? { eventType: query.event_type } : {}),
          // The first delivery of an event has its id.
          ...(query.event_id ? { OR: [{ id: query.event_id }, { eventId: query.event_id, replayOf: { not: null } }] } : {}),
        },
        orderBy: keyset.order(query),
        take: limit,
      })
      return rows.map(row => withInFlight(row, inFlight))
    },

    /** The new delivery's id, or that of the replay that is on its way already; null when the old delivery is gone. */
    async replay(id: string): Promise<{ id: string; made: boolean } | null> {
      for (let tries = 1; ; tries += 1) {
        try {
          const { rows } = await database.commit<{ id: string | null }>({ write: REPLAY, values: { id } })
          const made = rows[0]?.id
          return made ? { id: made, made: true } : null
        } catch (error) {
          if (!isUniqueViolation(error, 'deliveries_replay') || tries === REPLAY_TRIES) throw error
        }
        const open = await prisma.delivery.findFirst({ where: { replayOf: id, status: 'pending' } })
        if (open) return { id: open.id, made: false }
      }
    },

    async replayRange(merchantId: string, range: ReplayDeliveries, limit: number): Promise<{ replayed: number; nextAt: Date | null }> {
      const { rows } = await database.commit<{ replayed: number; next_at: Date | null }>({
        write: REPLAY_RANGE,
        values: {
          merchant_id: merchantId,
          from: range.created_gte,
          to: range.created_lt,
          type: range.event_type ?? null,
          all: range.scope === 'all',
          limit,
        },
      })
      return { replayed: rows[0]?.replayed ?? 0, nextAt: rows[0]?.next_at ?? null }
    },

    async overview(merchantId: string): Promise<Overview> {
      const { rows } = await database.query<Overview>({ name: 'deliveries-overview', text: OVERVIEW }, [
        merchantId,
        uuidv7Floor(new Date(Date.now() - DAY_MS)),
      ])
      return rows[0] ?? { pending: 0, retrying: 0, delivered_24h: 0, dead_24h: 0 }
    },
  }
}

/** Conditions that match the partial indexes. A delivery in flight stays pending in its own row; its lane names it. */
function statusIs(status: ListDeliveries['status'], inFlight: string[]) {
  switch (status) {
    case 'pending':
      return { nextAttemptAt: { not: null }, id: { notIn: inFlight } }
    case 'in_flight':
      return { nextAttemptAt: { not: null }, id: { in: inFlight } }
    case 'dead':
      return { deadReason: { not: null } }
    default:
      return status ? { status } : {}
  }
}

const withInFlight = (row: Delivery, inFlight: readonly string[]): Delivery =>
  row.status === 'pending' && inFlight.includes(row.id) ? { ...row, status: 'in_flight', nextAttemptAt: null } : row
