import { randomUUID } from 'node:crypto'
import { type Database, SERVER_HISTORY, uuidv7 } from '@ponte/service-kit'
import { newerThan } from './newer-generation'

const SERVER = `SELECT ${SERVER_HISTORY} AS server`

/** In a new generation nothing is published yet, and its chain of confirmed blocks begins above the confirmed ones. */
const BEGIN = `version = 0, since = coalesce(confirmed_number + 1, chain_cursor.start_block), announced_number = confirmed_number,
  republish_from = NULL, followed_confirmed = NULL, followed_watermark = NULL`

// Raw SQL because the epoch is counted by the database, in one upsert.
const TAKE = `
  INSERT INTO chain_cursor (chain_id, epoch, start_block, server, generation, since) VALUES ($1, 1, $2, $3, $4, $2)
  ON CONFLICT (chain_id) DO UPDATE SET epoch = chain_cursor.epoch + 1
  RETURNING epoch::text AS epoch`
/**
 * Publishes again all that the relayer publishes once. No order lives as long as 30 days. Whether a row was published is not asked of the statement's
 * snapshot: what the relayer is committing meanwhile is waited for, and published again too.
 */
const republished = (when: string) => `
  signed AS (
    UPDATE authorizations SET published = 0 WHERE ${when} AND chain_id = $1 AND created_at > now() - interval '30 days' RETURNING 1),
  blocked AS (UPDATE payables SET blocked_published = 0 WHERE ${when} AND chain_id = $1 AND blocked_revision > 0 RETURNING 1)`
/** The cursor is locked behind the rows, as by every write under a lease: in the other order two wait for each other. */
const behind = (ctes: readonly string[]) => ctes.map(cte => `(SELECT count(*) FROM ${cte}) >= 0`).join(' AND ')
const begun = (values: string, where: string) => `
  WITH ${republished(`EXISTS (SELECT FROM chain_cursor WHERE ${where})`)}
  UPDATE chain_cursor SET ${values}, ${BEGIN} WHERE ${where} AND ${behind(['signed', 'blocked'])}`
const RENEW = begun('server = $2, generation = $3', 'chain_id = $1 AND (server IS DISTINCT FROM $2 OR generation IS NULL)')
const FORGET = begun('generation = $3, epoch = epoch + 1', 'chain_id = $1 AND generation = $2')

// Raw SQL: what was committed under the leases before is what the cursor holds.
const MARK = `
  WITH ended AS (
    UPDATE leases SET version = cursor.version FROM chain_cursor AS cursor
    WHERE leases.chain_id = $1 AND leases.version IS NULL AND cursor.chain_id = $1)
  INSERT INTO leases (chain_id, marker, generation, from_version) SELECT chain_id, $2, generation, version FROM chain_cursor WHERE chain_id = $1`

const LEASES_NAMED = 100
const EARLIER = `
  SELECT marker AS lease, version::float8 AS version FROM leases
  WHERE chain_id = $1 AND generation = $2 AND version > from_version ORDER BY from_version DESC LIMIT ${LEASES_NAMED}`
const HELD = 'SELECT marker FROM leases WHERE chain_id = $1 AND version IS NULL'

const KNOWN = `
  SELECT cursor.generation, cursor.confirmed_number::float8 AS confirmed, cursor.followed_confirmed::float8 AS followed,
    cursor.followed_watermark::float8 AS "lastWatermark", cursor.republish_from::float8 AS "republishFrom",
    EXISTS (SELECT 1 FROM leases
      WHERE chain_id = $1 AND marker = $2 AND generation = cursor.generation AND coalesce(leases.version, cursor.version) >= $3) AS "isKnown"
  FROM chain_cursor AS cursor WHERE cursor.chain_id = $1`
// With the blocks that orders has lost: it may have lost the rest too. A report that came again would look like one of an orders that stands still.
const FOLLOWED = `
  WITH reported AS (INSERT INTO inbox (event_id) VALUES ($4::uuid)), ${republished('$2::bigint IS NOT NULL')},
  returned AS (UPDATE refund_watches SET asked = true, is_final = false WHERE $2::bigint IS NOT NULL AND chain_id = $1 AND asked_at > now() - interval '30 days' RETURNING 1),
  recovered AS (UPDATE recoveries SET asked = true, is_final = false WHERE $2::bigint IS NOT NULL AND chain_id = $1 AND asked_at > now() - interval '30 days' RETURNING 1)
  UPDATE chain_cursor SET followed_confirmed = confirmed_number, followed_watermark = $3, republish_from = least(republish_from, $2::bigint)
  WHERE chain_id = $1 AND ${behind(['signed', 'blocked', 'returned', 'recovered'])}`

/** The furthest that orders has seen: of which history, lease and version, and the block up to which it has everything. */
export interface Followed {
  generation: string
  lease: string
  version: number
  watermark: number | null
}

/** Notices that the listener's database has lost a part of its own history. */
export function generationStore(database: Database, chainId: number) {
  const current = async () => {
    const text = 'SELECT generation, server FROM chain_cursor WHERE chain_id = $1'
    return (await database.query<{ generation: string | null; server: string | null }>(text, [chainId])).rows[0]
  }
  let looking: ReturnType<typeof current> | null = null
  /** Events that come at once share a look: each new order is an event. */
  const currentNow = () => {
    looking ??= current().finally(() => {
      looking = null
    })
    return looking
  }
  return {
    /** Begins a new epoch, under which older ones write nothing, and a new generation where the server is another than before. */
    async takeLease(startBlock: number): Promise<bigint> {
      const before = await current()
      const { server } = (await database.query<{ server: string }>({ name: 'generation-server', text: SERVER }, [])).rows[0] ?? {
        server: '',
      }
      const generation = newerThan([before?.generation], uuidv7())
      await database.query(RENEW, [chainId, server, generation])
      const { rows } = await database.query<{ epoch: string }>(TAKE, [chainId, startBlock, server, generation])
      await database.query(MARK, [chainId, randomUUID()])
      return BigInt(rows[0]?.epoch ?? 0)
    },
    /** The lease that is held, and those of its generation that have ended. */
    async leases(generation: string): Promise<{ lease: string; earlier: { lease: string; version: number }[] }> {
      const { rows: held } = await database.query<{ marker: string }>(HELD, [chainId])
      const { rows: earlier } = await database.query<{ lease: string; version: number }>(EARLIER, [chainId, generation])
      return { lease: held[0]?.marker ?? '', earlier }
    },
    /** A newer generation was seen than ours: the database that began it is lost. Answers whether a new one begins here. */
    async overtake(seen: string): Promise<boolean> {
      const ours = (await currentNow())?.generation
      if (!ours || seen <= ours) return false
      return (await database.query(FORGET, [chainId, ours, newerThan([ours, seen], uuidv7())])).rowCount === 1
    },
    /** Answers whether what orders has seen is unknown here, so that a new generation begins. What it misses of this one is published again. */
    async follow({ generation, lease, version, watermark }: Followed, eventId: string): Promise<boolean> {
      const { rows } = await database.query<{
        generation: string | null
        confirmed: number | null
        followed: number | null
        lastWatermark: number | null
        republishFrom: number | null
        isKnown: boolean
      }>({ name: 'generation-known', text: KNOWN }, [chainId, lease, version])
      const ours = rows[0]
      if (!ours?.generation || generation < ours.generation) return false
      if (generation > ours.generation || !ours.isKnown)
        return (await database.query(FORGET, [chainId, ours.generation, newerThan([ours.generation, generation], uuidv7())])).rowCount === 1
      const next = (watermark ?? -1) + 1
      const isOnItsWay = ours.republishFrom !== null && ours.republishFrom <= next
      // One that has come further since its last report works off a backlog, and has lost nothing.
      const isLost =
        !isOnItsWay && ours.followed !== null && next <= ours.followed && ours.lastWatermark !== null && next <= ours.lastWatermark + 1
      await database.query({ name: 'generation-followed', text: FOLLOWED }, [chainId, isLost ? next : null, next - 1, eventId])
      return false
    },
  }
}
export type GenerationStore = ReturnType<typeof generationStore>
