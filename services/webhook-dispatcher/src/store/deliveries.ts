import { type ListDeliveries, OVERVIEW_MAX } from '@ponte/contracts'
import { type Database, type Found, keysetPage, uuidv7Floor } from '@ponte/service-kit'
import type { Attempt, Delivery, Event, PrismaClient } from '../generated/client'
import { deliveryWalk, inOrder, ofEvents, statusIs } from './lists'

/**
 * Raw SQL: four counts in one round trip, over a bounded number of rows: what an endpoint leaves waiting may be any number. Ids begin with their
 * time, so that the last day of a merchant is one range of the index.
 */
const OVERVIEW = `
  WITH waiting AS (
    SELECT attempts FROM deliveries WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) AND next_attempt_at IS NOT NULL
    ORDER BY merchant_id, id DESC LIMIT ${OVERVIEW_MAX}
  ), latest AS (
    SELECT status FROM deliveries WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) AND id >= $2 ORDER BY merchant_id, id DESC LIMIT ${OVERVIEW_MAX}
  )
  SELECT
    (SELECT count(*)::int FROM waiting WHERE attempts = 0) AS pending, (SELECT count(*)::int FROM waiting WHERE attempts > 0) AS retrying,
    (SELECT count(*)::int FROM latest WHERE status = 'delivered') AS delivered_24h,
    (SELECT count(*)::int FROM latest WHERE status = 'dead') AS dead_24h`

export interface Overview {
  pending: number
  retrying: number
  delivered_24h: number
  dead_24h: number
}

/** Deliveries found by an order or a subscription are those of this many of its events. */
const EVENTS_MAX = 1_000
const DAY_MS = 86_400_000

/** A delivery with what its event is about. */
export type DeliveryRow = Delivery & Pick<Event, 'orderId' | 'subscriptionId'>
export type DeliveryDetail = DeliveryRow & { attemptLog: Attempt[]; body: Buffer; url: string | null }

/** Raw SQL: moves times of two tables by an interval, in one statement. A lane that is leased gets its next turn when its results are written. */
const HURRY = `
  WITH moved AS (
    UPDATE deliveries SET next_attempt_at = next_attempt_at - make_interval(secs => $1) WHERE status = 'pending' AND attempts > 0 RETURNING next_attempt_at
  ), turned AS (
    UPDATE lanes SET turn_at = turn_at - make_interval(secs => $1) WHERE lease_token IS NULL AND turn_at IS NOT NULL
  )
  SELECT extract(epoch FROM min(next_attempt_at) - now())::float AS in_s FROM moved`

/** Raw SQL: of the default endpoint, which has the merchant's id, and of the others, also those that were deleted, in one round trip. */
const IN_FLIGHT = `
  SELECT unnest(in_flight) AS id FROM lanes WHERE in_flight <> '{}'
    AND endpoint_id IN (SELECT $1::uuid UNION ALL SELECT id FROM endpoints WHERE merchant_id = $1)`

export function deliveryStore(database: Database, prisma: PrismaClient) {
  const subjects = (eventIds: readonly string[]) =>
    prisma.event.findMany({ where: { id: { in: [...eventIds] } }, select: { id: true, orderId: true, subscriptionId: true } })

  const withSubjects = async (rows: readonly Delivery[]): Promise<DeliveryRow[]> => {
    const known = new Map((await subjects(rows.map(row => row.eventId))).map(event => [event.id, event]))
    return rows.map(row => ({ ...row, ...subjectOf(known.get(row.eventId)) }))
  }

  const inFlightTo = async (merchantId: string): Promise<string[]> =>
    (await database.query<{ id: string }>({ name: 'deliveries-in-flight', text: IN_FLIGHT }, [merchantId])).rows.map(({ id }) => id)
  const inLane = async ({ merchantId, endpointId }: Delivery): Promise<string[]> =>
    (await prisma.lane.findUnique({ where: { endpointId: endpointId ?? merchantId } }))?.inFlight ?? []
  const isOwn = async (merchantId: string, endpointId: string): Promise<boolean> =>
    endpointId === merchantId || (await prisma.endpoint.findFirst({ where: { id: endpointId, merchantId } })) !== null

  const eventsAbout = async (merchantId: string, { order_id, subscription_id }: ListDeliveries): Promise<string[] | undefined> => {
    if (order_id === undefined && subscription_id === undefined) return undefined
    const about = { ...(order_id ? { orderId: order_id } : {}), ...(subscription_id ? { subscriptionId: subscription_id } : {}) }
    const events = await prisma.event.findMany({
      where: { merchantId, ...about },
      orderBy: { id: 'desc' },
      take: EVENTS_MAX,
      select: { id: true },
    })
    return events.map(({ id }) => id)
  }

  return {
    async find(id: string): Promise<DeliveryRow | null> {
      const row = await prisma.delivery.findUnique({ where: { id } })
      if (!row) return null
      const [found] = await withSubjects([withInFlight(row, await inLane(row))])
      return found ?? null
    },

    /** A delivery with its attempts and its body, all of one moment: a result that is recorded meanwhile shows in all or in none. */
    detail: (id: string): Promise<DeliveryDetail | null> =>
      prisma.$transaction(
        async snapshot => {
          const row = await snapshot.delivery.findUnique({ where: { id } })
          if (!row) return null
          const { endpointId, merchantId } = row
          const lane = await snapshot.lane.findUnique({ where: { endpointId: endpointId ?? merchantId } })
          const attempts = await snapshot.attempt.findMany({ where: { deliveryId: id }, orderBy: { ordinal: 'asc' } })
          const event = await snapshot.event.findUnique({ where: { id: row.eventId } })
          const url = endpointId
            ? (await snapshot.endpoint.findUnique({ where: { id: endpointId } }))?.url
            : (await snapshot.merchant.findUnique({ where: { id: merchantId } }))?.webhookUrl
          return {
            ...withInFlight(row, lane?.inFlight ?? []),
            ...subjectOf(event),
            attemptLog: attempts,
            body: Buffer.from(event?.body ?? ''),
            url: url ?? null,
          }
        },
        { isolationLevel: 'RepeatableRead' },
      ),

    /** Newest first; of a span of time in the order in which they were made. */
    async list(merchantId: string, query: ListDeliveries, limit: number): Promise<Found<DeliveryRow>> {
      if (query.endpoint_id !== undefined && !(await isOwn(merchantId, query.endpoint_id))) return { rows: [], searchedTo: null }
      const inFlight = await inFlightTo(merchantId)
      const about = await eventsAbout(merchantId, query)
      const events = [...(query.event_id ? [[query.event_id]] : []), ...(about ? [about] : [])]
      const { rows, searchedTo } = await keysetPage<{ id: string }>(database, {
        ...{ select: 'id', from: 'deliveries', limit },
        ...deliveryWalk(merchantId, query, [...statusIs(query.status, inFlight), ...events.map(ofEvents)]),
      })
      const ids = rows.map(({ id }) => id)
      const found = inOrder(ids, await prisma.delivery.findMany({ where: { id: { in: ids } } }))
      return { rows: await withSubjects(found.map(row => withInFlight(row, inFlight))), searchedTo }
    },

    /** Brings what is to be tried again forward; answers in how many seconds the first of it is tried. */
    async hurry(seconds: number): Promise<number | null> {
      const { rows } = await database.query<{ in_s: number | null }>({ name: 'hurry', text: HURRY }, [seconds])
      return rows[0]?.in_s ?? null
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

const subjectOf = (event: { orderId: string | null; subscriptionId: string | null } | null | undefined) => ({
  orderId: event?.orderId ?? null,
  subscriptionId: event?.subscriptionId ?? null,
})

const withInFlight = (row: Delivery, inFlight: readonly string[]): Delivery =>
  row.status === 'pending' && inFlight.includes(row.id) ? { ...row, status: 'in_flight', nextAttemptAt: null } : row
