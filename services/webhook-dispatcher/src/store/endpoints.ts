import { ENDPOINTS_MAX, endpointFormat, type MerchantTerms } from '@ponte/contracts'
import {
  type Database,
  isUniqueViolation,
  type Statement,
  type StoredAnswer,
  snakeCase,
  updateVersioned,
  uuidv7Floor,
} from '@ponte/service-kit'
import { type Endpoint, SECRET_ACTIVATES_AFTER_MS } from '../endpoint/endpoint'
import type { Endpoint as EndpointRow, PrismaClient } from '../generated/client'
import { beginEpoch } from './events'

const CHANGING = [
  'url',
  'description',
  'events',
  'format',
  'header_names',
  'sealed_headers',
  'max_in_flight',
  'paused',
  'sealed_secret',
  'sealed_pending_secret',
  'pending_secret_activates_at',
  'deleted_at',
]
const COLUMNS = ['id', 'merchant_id', 'place', 'version', 'created_at', ...CHANGING]

/**
 * The merchant's version under which the gateway let a change pass. Where the merchant is further, as after an operator froze the account, the change is stale; one
 * that is written at the same moment is waited for.
 */
const ACCOUNT = 'account AS MATERIALIZED (SELECT version FROM merchants WHERE id = $merchant_id::uuid FOR SHARE)'
const IS_STANDING = 'NOT EXISTS (SELECT FROM account WHERE account.version > $merchant_version::int)'

/** Raw SQL: with its lane, so that a pause always finds one. */
const INSERT: Statement = {
  name: 'endpoint-insert',
  text: `
  WITH lane AS (INSERT INTO lanes (endpoint_id, merchant_id, class) SELECT id, id, 0 FROM json_populate_recordset(NULL::endpoints, $endpoints)), ${ACCOUNT}
  INSERT INTO endpoints (${COLUMNS.join(', ')})
  SELECT ${COLUMNS.map(column => (column === 'version' ? `CASE WHEN ${IS_STANDING} THEN version END` : column)).join(', ')}
  FROM json_populate_recordset(NULL::endpoints, $endpoints)`,
}

/** Raw SQL: the endpoint and its lane in one. A pause takes the lane out of turn; its end makes due what waited. */
const UPDATE: Statement = {
  name: 'endpoint-update',
  text: `
  WITH lane AS (
    UPDATE lanes SET class = CASE WHEN $stopped::boolean THEN 3 WHEN class = 3 THEN 0 ELSE class END,
      arrivals = arrivals + 1, turn_at = CASE WHEN lease_token IS NOT NULL AND turn_at > now() THEN turn_at ELSE now() END,
      failing_since = CASE WHEN $moved::boolean THEN NULL ELSE failing_since END
    WHERE endpoint_id = $id::uuid
  ), ${ACCOUNT}
  ${updateVersioned('endpoints', CHANGING, IS_STANDING)}`,
}

/** Raw SQL: event, number, delivery and lane in one statement. */
const TEST: Statement = {
  name: 'endpoint-test',
  text: `
  WITH counted AS (
    INSERT INTO event_sequences AS counter (merchant_id, last) VALUES ($merchant_id::uuid, 1)
    ON CONFLICT (merchant_id) DO UPDATE SET last = counter.last + 1 RETURNING merchant_id, last
  ), begun AS (
    ${beginEpoch('c.last')}
  ), fresh AS (
    INSERT INTO events (id, merchant_id, merchant_version, type, body, occurred_at, waiting, sequence)
    SELECT $event_id::uuid, $merchant_id::uuid, $merchant_version::int, $type, $body::bytea, now(), false, last FROM counted
  ), due AS (
    INSERT INTO deliveries (id, event_id, merchant_id, endpoint_id, event_type, status, next_attempt_at)
    VALUES ($delivery_id::uuid, $event_id::uuid, $merchant_id::uuid, $endpoint_id::uuid, $type, 'pending', now())
  )
  SELECT touch_lanes(ARRAY[$endpoint_id::uuid])`,
}

/**
 * Raw SQL: of all endpoints at once. An event that comes late or again finds secrets that were made after the account was let go on; two clocks may differ by the
 * leeway.
 */
const DROP_PENDING = `
  UPDATE endpoints SET sealed_pending_secret = NULL, pending_secret_activates_at = NULL, version = version + 1
  WHERE merchant_id = $1 AND pending_secret_activates_at > $2 AND pending_secret_activates_at <= $3`
const CLOCKS_LEEWAY_MS = 300_000

const DEAD_MAX = 1_000
/** Raw SQL: counts, over the newest dead deliveries of the merchant, those that no replay has taken up. */
const HEALTH = `
  SELECT l.endpoint_id, l.failing_since, (
    SELECT count(*)::int FROM (
      SELECT d.event_id, d.merchant_id, d.endpoint_id FROM deliveries d
      WHERE d.merchant_id = $1 AND d.dead_reason IS NOT NULL AND d.id >= $3 ORDER BY d.id DESC LIMIT ${DEAD_MAX}) AS d
    WHERE coalesce(d.endpoint_id, d.merchant_id) = l.endpoint_id AND NOT EXISTS (
      SELECT 1 FROM deliveries r WHERE r.event_id = d.event_id AND r.replay_of IS NOT NULL AND r.status <> 'dead'
        AND coalesce(r.endpoint_id, r.merchant_id) = l.endpoint_id)) AS dead
  FROM lanes l WHERE l.endpoint_id = ANY($2::uuid[])`

export interface EndpointHealth {
  failingSince: Date | null
  dead: number
}

/** Deleted endpoints are kept as long as their deliveries, and lists of deliveries read them all. */
export const DELETED_MAX = 200
const HEALTH_DAYS = 7
const DAY_MS = 86_400_000

export function endpointStore(database: Database, prisma: PrismaClient) {
  const under = ({ merchant_id, version }: MerchantTerms) => ({ merchant_id, merchant_version: version })
  const write = async (
    endpoint: Endpoint,
    terms: MerchantTerms,
    lane: { stopped: boolean; moved: boolean },
    deletedAt: Date | null,
    answers: StoredAnswer[] = [],
  ) => {
    await database.commit({
      write: UPDATE,
      rows: { endpoints: [{ ...toRecord(endpoint), deleted_at: deletedAt }] },
      values: { id: endpoint.id, ...lane, ...under(terms) },
      answers,
    })
  }
  return {
    async list(merchantId: string): Promise<Endpoint[]> {
      const rows = await prisma.endpoint.findMany({ where: { merchantId, deletedAt: null }, orderBy: { id: 'asc' } })
      return rows.map(toEndpoint)
    },

    /** One that is not deleted. */
    async find(id: string): Promise<Endpoint | null> {
      const row = await prisma.endpoint.findUnique({ where: { id, deletedAt: null } })
      return row && toEndpoint(row)
    },

    /** `full` when the merchant has as many as there may be, `deleted` when as many as are kept were deleted. Throws a stale error (`isStale`) when the merchant has moved on. */
    async insert(endpoint: Endpoint, terms: MerchantTerms, answers: StoredAnswer[] = []): Promise<'made' | 'full' | 'deleted'> {
      const { merchantId } = endpoint
      const deleted = await prisma.endpoint.findMany({
        where: { merchantId, deletedAt: { not: null } },
        select: { id: true },
        take: DELETED_MAX,
      })
      if (deleted.length === DELETED_MAX) return 'deleted'
      for (;;) {
        const taken = await prisma.endpoint.findMany({
          where: { merchantId, deletedAt: null },
          select: { place: true },
        })
        const free = Array.from({ length: ENDPOINTS_MAX }, (_, n) => n + 1).find(place => !taken.some(row => row.place === place))
        if (free === undefined) return 'full'
        try {
          await database.commit({
            write: INSERT,
            rows: { endpoints: [{ ...toRecord(endpoint), place: free }] },
            values: under(terms),
            answers,
          })
          return 'made'
        } catch (error) {
          if (!isUniqueViolation(error, 'endpoints_place')) throw error
        }
      }
    },

    /** Writes a change of an endpoint as it was read. Throws a stale error (`isStale`) when it or its merchant has moved on. */
    update: (before: Endpoint, after: Endpoint, terms: MerchantTerms, answers: StoredAnswer[] = []): Promise<void> =>
      write(after, terms, { stopped: after.paused, moved: after.url !== before.url }, null, answers),

    /** Secrets that waited when the merchant was frozen never come into force: who froze it does not trust who made them. */
    async dropPending(merchantId: string, frozenAt: Date): Promise<void> {
      const madeBefore = new Date(frozenAt.getTime() + SECRET_ACTIVATES_AFTER_MS + CLOCKS_LEEWAY_MS)
      await database.query({ name: 'endpoints-drop-pending', text: DROP_PENDING }, [merchantId, frozenAt, madeBefore])
    },

    /** Its waiting deliveries end as dead when their turn comes. */
    remove: (endpoint: Endpoint, terms: MerchantTerms, at: Date): Promise<void> =>
      write({ ...endpoint, headerNames: [], sealedHeaders: null, pending: null }, terms, { stopped: false, moved: false }, at),

    async test(
      endpoint: Endpoint,
      test: { eventId: string; deliveryId: string; merchantVersion: number; type: string; body: Buffer },
      answers: StoredAnswer[] = [],
    ): Promise<void> {
      await database.commit({
        write: TEST,
        answers,
        values: {
          merchant_id: endpoint.merchantId,
          endpoint_id: endpoint.id,
          event_id: test.eventId,
          delivery_id: test.deliveryId,
          merchant_version: test.merchantVersion,
          type: test.type,
          body: test.body,
        },
      })
    },

    async health(merchantId: string, endpointIds: readonly string[]): Promise<Map<string, EndpointHealth>> {
      const { rows } = await database.query<{ endpoint_id: string; failing_since: Date | null; dead: number }>(
        { name: 'endpoints-health', text: HEALTH },
        [merchantId, endpointIds, uuidv7Floor(new Date(Date.now() - HEALTH_DAYS * DAY_MS))],
      )
      return new Map(rows.map(row => [row.endpoint_id, { failingSince: row.failing_since, dead: row.dead }]))
    },
  }
}

const toRecord = ({ pending, ...endpoint }: Endpoint) => ({
  ...snakeCase(endpoint),
  sealed_pending_secret: pending?.sealed ?? null,
  pending_secret_activates_at: pending?.activatesAt ?? null,
})

function toEndpoint(row: EndpointRow): Endpoint {
  const { sealedPendingSecret: sealed, pendingSecretActivatesAt: activatesAt, place: _, deletedAt: __, ...endpoint } = row
  return { ...endpoint, format: endpointFormat.parse(row.format), pending: sealed && activatesAt ? { sealed, activatesAt } : null }
}
