import type { ChainBlocks, EventData } from '@ponte/contracts'
import { type Database, outboxRows, type Statement } from '@ponte/service-kit'
import { z } from 'zod'
import { confirmedTimeOf, type History, isCertain, watermarkOf } from '../chain/history'
import type { PrismaClient } from '../generated/client'
import { type ChainView, viewOf } from '../order/verdict'
import { chainIdsOf, type Payable } from '../payment/payment'
import { UNBLOCKED_CTE, UNSIGNED_CTE } from './relayer'
import { isOlder } from './stated'

// Raw SQL because one replica has to be first.
const ADOPT: Statement = {
  name: 'chain-adopt',
  text: `
  WITH begun AS (INSERT INTO chain_cursors AS known (chain_id, generation, since, head_block, resent_to) VALUES ($chain_id, $generation, $since, $head, $first_id)
  ON CONFLICT (chain_id) DO UPDATE SET generation = EXCLUDED.generation, since = EXCLUDED.since, head_block = EXCLUDED.head_block,
    advanced = '{}', watermark = NULL, confirmed_time = NULL, resent_to = EXCLUDED.resent_to, reported_at = NULL, version = known.version + 1
  WHERE known.generation IS NULL OR known.generation < EXCLUDED.generation RETURNING chain_id), ${UNBLOCKED_CTE('begun')}
  SELECT FROM begun`,
}

const TIMED_CTE = `
  timed AS (
    INSERT INTO chain_advances (chain_id, generation, to_block, confirmed_time)
    SELECT $chain_id::int, $generation::uuid, $to::bigint, $time::timestamptz WHERE $to::bigint IS NOT NULL ON CONFLICT DO NOTHING),
  leased AS (
    INSERT INTO chain_leases AS known (chain_id, generation, lease, seen_version, ended_version)
    SELECT $chain_id::int, $generation::uuid, lease, seen, ended FROM unnest($leases::uuid[], $seen_versions::int[], $ended_versions::int[]) AS stated (lease, seen, ended)
    ON CONFLICT (chain_id, generation, lease) DO UPDATE SET seen_version = greatest(known.seen_version, EXCLUDED.seen_version),
      ended_version = least(known.ended_version, EXCLUDED.ended_version)
    WHERE known.seen_version < EXCLUDED.seen_version OR coalesce(known.ended_version, 2147483647) > EXCLUDED.ended_version)`
const STATED = 'unnest($watched_ids::uuid[], $throughs::bigint[]) AS stated (order_id, through)'
/**
 * Raw SQL: common table expressions of the statement that takes an event in. The version lets one of two events that were decided at once be first; the
 * other is decided again.
 */
export const CURSOR_CTE = `
  moved AS (
    UPDATE chain_cursors AS known SET head_block = greatest(known.head_block, $head::bigint), since = least(known.since, $since::bigint),
      advanced = known.advanced + CASE WHEN $from::bigint IS NULL THEN '{}'::int8multirange ELSE int8multirange(int8range($from::bigint, $to::bigint, '[]')) END,
      version = CASE WHEN known.version = $cursor_version::int AND known.generation = $cursor_generation::uuid THEN known.version + 1 END
    WHERE chain_id = $chain_id::int),
  ${TIMED_CTE},
  forgone AS (
    INSERT INTO gone_blocks AS known (chain_id, block_hash, generation, version)
    SELECT $chain_id::int, block_hash, $generation::uuid, $version::int FROM unnest($gone::text[]) AS block_hash
    ON CONFLICT (chain_id, block_hash) DO UPDATE SET generation = EXCLUDED.generation, version = EXCLUDED.version
    WHERE ${isOlder('known', 'EXCLUDED')}),
  watched AS (
    UPDATE order_networks AS known SET watched_generation = $generation::uuid, watched_version = $version::int, watched_through = through FROM ${STATED}
    WHERE known.order_id = stated.order_id AND known.chain_id = $chain_id::int
      AND (coalesce(known.watched_generation::text, ''), known.watched_version) < (($generation::uuid)::text, $version::int)),
  ${UNSIGNED_CTE(STATED)}`

type Step = Pick<ChainBlocks, 'chain_id' | 'generation' | 'lease' | 'version' | 'earlier' | 'advanced'>
/** A lease is open until a later one names its last version. */
function stepValues({ chain_id, generation, lease, version, earlier, advanced }: Step) {
  const leases = new Map([...earlier.map(each => [each.lease, each.version] as const), [lease, null] as const])
  return {
    ...{ chain_id, generation, from: advanced?.from ?? null, to: advanced?.to ?? null, time: advanced?.time ?? null },
    leases: [...leases.keys()],
    seen_versions: [...leases.keys()].map(each => (each === lease ? version : 0)),
    ended_versions: [...leases.values()],
  }
}

/** Only the present generation states how far the chain is known. */
export function cursorValues(blocks: ChainBlocks, { generation, version }: { generation: string | null; version: number }) {
  const isOver = blocks.generation !== generation
  const watched = new Map(isOver ? [] : blocks.watched.map(({ order_id, through }) => [order_id, through]))
  return {
    ...stepValues(isOver ? { ...blocks, advanced: null } : blocks),
    version: blocks.version,
    since: isOver ? null : blocks.since,
    head: isOver ? null : blocks.head,
    gone: [...new Set(blocks.gone)],
    watched_ids: [...watched.keys()],
    throughs: [...watched.values()],
    cursor_generation: generation,
    cursor_version: version,
  }
}

// Those that decide whether the listener may have lost anything; the others are of the past.
export const LEASES = `(SELECT coalesce(json_agg(json_build_object('seenVersion', seen_version, 'endedVersion', ended_version)), '[]') FROM chain_leases AS lease
    WHERE lease.chain_id = cursor.chain_id AND lease.generation = cursor.generation AND (ended_version IS NULL OR seen_version > ended_version))`
// Raw SQL: one statement, so that all of it is of one moment.
const HISTORY = `
  SELECT generation, since::text, watermark::text, confirmed_time, last_time, head_block::text,
    (SELECT coalesce(json_agg(json_build_array(lower(blocks), upper(blocks) - 1) ORDER BY blocks), '[]') FROM unnest(advanced) AS blocks) AS ranges,
    (SELECT coalesce(json_agg(json_build_object('toBlock', to_block, 'time', advance.confirmed_time)), '[]') FROM chain_advances AS advance
     WHERE advance.chain_id = cursor.chain_id AND advance.generation = cursor.generation) AS advances,
    ${LEASES} AS leases
  FROM chain_cursors AS cursor WHERE chain_id = $1 AND generation IS NOT NULL`
// Raw SQL: another generation may have been adopted meanwhile, and then this is of the past.
const BELIEVE = `
  WITH forgotten AS (
    DELETE FROM chain_advances WHERE chain_id = $1 AND (generation < $2::uuid OR (generation = $2::uuid AND to_block <= $3::bigint AND confirmed_time < $4)))
  UPDATE chain_cursors SET watermark = $3::bigint, confirmed_time = $4, last_time = greatest(last_time, $4)
  WHERE chain_id = $1 AND generation = $2::uuid`

/** Two reports of one moment would look as if nothing had come between them: of all replicas one reports. */
// Raw SQL because the database decides who is first.
const CLAIM_REPORT = `
  UPDATE chain_cursors SET reported_at = now() WHERE chain_id = $1 AND (reported_at IS NULL OR reported_at < now() - interval '45 seconds')`
// Raw SQL: the lease that the listener may have forgotten, else the one that is open.
const FOLLOWED = `
  SELECT generation, lease, seen_version AS version, watermark::text FROM chain_leases JOIN chain_cursors USING (chain_id, generation)
  WHERE chain_id = $1 AND seen_version > 0
  ORDER BY (seen_version > ended_version) IS TRUE DESC, (ended_version IS NULL) DESC, seen_version LIMIT 1`

// Raw SQL because many rows are written at once.
const PARK: Statement = {
  name: 'chain-park',
  text: `
  WITH held AS (
    INSERT INTO parked_memos (event_id, memo)
    SELECT $event_id::uuid, memo FROM unnest($memos::text[]) AS memo
    UNION SELECT $event_id::uuid, memo FROM orders WHERE id = ANY($unwatched_ids::uuid[]) ON CONFLICT DO NOTHING),
  ${TIMED_CTE}
  UPDATE chain_cursors SET version = version + 1,
    advanced = advanced + CASE WHEN $from::bigint IS NULL THEN '{}'::int8multirange ELSE int8multirange(int8range($from::bigint, $to::bigint, '[]')) END
  WHERE chain_id = $chain_id AND generation = $generation::uuid`,
}
// Raw SQL: many at once, by their key.
const TAKEN = 'SELECT count(*)::int AS count FROM inbox WHERE event_id = ANY($1::uuid[])'
// Raw SQL: joins without a relation. What is gone is asked for as long as a message may be late.
const FORGET = [
  'DELETE FROM parked_memos USING inbox WHERE inbox.event_id = parked_memos.event_id',
  "DELETE FROM gone_blocks WHERE gone_at < now() - interval '60 days'",
  // Seen in a generation that has ended: this one states of money without an order what it reads itself, and is past that block. A late confirmation is a row again.
  `DELETE FROM unmatched_payments AS seen USING chain_cursors AS known
   WHERE seen.status = 'detected' AND seen.chain_id = known.chain_id AND seen.block_number <= known.watermark
     AND (seen.generation IS NULL OR seen.generation < known.generation)`,
]

/** What could be read of an event in the dead letters: where it stands in the listener's history, and which orders wait for it. */
export interface Parked extends Step {
  eventId: string
  memos: readonly string[]
  unwatchedIds: readonly string[]
}

/** As of the last look. */
export interface ChainState extends ChainView {
  generation: string | null
  watermark: number | null
  since: number | null
  /** The latest time that was ever confirmed, also while `time` is not known for a moment; null when none was. */
  lastTime: Date | null
  /** Expiry waits for these: confirmed ranges beyond a gap, and one more while the listener may have lost what orders knows. */
  missing: number
}

/** For `$1` chain: what a row has was stated in an earlier generation of the listener. */
export const IS_OF_BEFORE = 'generation IS DISTINCT FROM (SELECT generation FROM chain_cursors WHERE chain_id = $1)'
/** For `$1` chain. No listener follows a deeper reorganisation. */
export const IS_REVERSIBLE = 'block_number > (SELECT head_block - 10000 FROM chain_cursors WHERE chain_id = $1)'
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const historyRow = z.object({
  generation: z.string(),
  since: z.coerce.number(),
  watermark: z.coerce.number().nullable(),
  confirmed_time: z.date().nullable(),
  last_time: z.date().nullable(),
  head_block: z.coerce.number(),
  ranges: z.array(z.tuple([z.number(), z.number()])),
  advances: z.array(z.object({ toBlock: z.number(), time: z.coerce.date() })),
  leases: z.array(z.object({ seenVersion: z.number(), endedVersion: z.number().nullable() })),
})
const NOTHING: ChainState = { generation: null, time: null, watermark: null, since: null, lastTime: null, missing: 0 }

const latestOf = (one: Date | null, other: Date | null): Date | null => (one !== null && (other === null || one > other) ? one : other)

export function chainStore(database: Database, prisma: PrismaClient, now: () => Date, latestTime: () => Date) {
  const states = new Map<number, ChainState>()
  const heads = new Map<number, number>()
  const followed = async (chainId: number): Promise<EventData<'chain.followed'> | null> => {
    const { rows } = await database.query<{ generation: string; lease: string; version: number; watermark: string | null }>(FOLLOWED, [
      chainId,
    ])
    const [row] = rows
    return row ? { ...row, chain_id: chainId, watermark: row.watermark === null ? null : Number(row.watermark) } : null
  }

  return {
    /** The head of the chain as the listener last reported it; 0 while unknown. */
    head: async (chainId: number): Promise<bigint> => (await prisma.chainCursor.findUnique({ where: { chainId } }))?.headBlock ?? 0n,

    /** The same of every chain that is followed. */
    heads: async (): Promise<ReadonlyMap<number, bigint>> =>
      new Map((await prisma.chainCursor.findMany({ select: { chainId: true, headBlock: true } })).map(row => [row.chainId, row.headBlock])),

    /** That head as of the last `refresh` here; null before one knew it. An older one is safe: more blocks are watched. */
    knownHead: (chainId: number): number | null => heads.get(chainId) ?? null,

    /** The chain as of the last `refresh` here. An older one is safe: it expires less. */
    view: (chainId: number): ChainState => states.get(chainId) ?? NOTHING,

    /** The same of all networks of an order, together: as far as each of them is known. */
    viewOf: (order: Pick<Payable, 'chainId' | 'networks'>): ChainView => viewOf(chainIdsOf(order), chainId => states.get(chainId)),

    /** True when no chain can have confirmed this time yet, as far as our clock knows. */
    liesAhead: (time: string): boolean => Date.parse(time) > latestTime().getTime(),

    /** Begins with a newer generation of the listener's history: of what an older one knew nothing is known. */
    async adopt({ chain_id, generation, since, head }: ChainBlocks): Promise<void> {
      await database.commit({ write: ADOPT, values: { chain_id, generation, since, head, first_id: FIRST_ID } })
    },

    async hasTaken(eventIds: readonly string[]): Promise<boolean> {
      const { rows } = await database.query<{ count: number }>({ name: 'chain-taken', text: TAKEN }, [eventIds])
      return rows[0]?.count === new Set(eventIds).size
    },

    async ignore(eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId] })
    },
    /** An event that could not be handled counts as read; the orders that it names do not expire until it is. */
    async park({ eventId, memos, unwatchedIds, ...step }: Parked): Promise<void> {
      await database.commit({ write: PARK, values: { ...stepValues(step), event_id: eventId, memos, unwatched_ids: unwatchedIds } })
    },
    /** Forgets those that were handled after all, and blocks of which no message speaks any more. */
    async forget(): Promise<void> {
      for (const text of FORGET) await database.query(text)
    },
    /**
     * Looks how far the chain is known by now. An order that was paid before Tc is therefore known to be paid (invariant 4). Nothing expires while it is not
     * certain that the listener knows all that was read of it.
     */
    async refresh(chainId: number): Promise<ChainState> {
      const { rows } = await database.query({ name: 'chain-history', text: HISTORY }, [chainId])
      if (!rows[0]) return states.get(chainId) ?? NOTHING
      const row = historyRow.parse(rows[0])
      const history: History = { ...row, confirmedTime: row.confirmed_time }
      const [watermark, confirmedTime] = [watermarkOf(history), confirmedTimeOf(history, latestTime())]
      if (watermark !== row.watermark || confirmedTime?.getTime() !== row.confirmed_time?.getTime())
        await database.query({ name: 'chain-believe', text: BELIEVE }, [chainId, row.generation, watermark, confirmedTime])
      const certain = isCertain(row.leases)
      const beyond = history.advances.filter(({ toBlock }) => toBlock > (watermark ?? -1)).length
      const missing = beyond + (certain ? 0 : 1)
      const lastTime = latestOf(row.last_time, confirmedTime)
      const state = { generation: row.generation, watermark, since: row.since, time: certain ? confirmedTime : null, lastTime, missing }
      states.set(chainId, state)
      heads.set(chainId, row.head_block)
      return state
    },

    /** Publishes how far the listener is followed, so that it notices what its database has lost. */
    async publishFollowed(chainId: number): Promise<void> {
      const { rowCount } = await database.query({ name: 'chain-claim-report', text: CLAIM_REPORT }, [chainId])
      const data = rowCount === 1 ? await followed(chainId) : null
      if (data) await database.commit({ events: outboxRows([{ type: 'chain.followed', data }], now()) })
    },
  }
}
