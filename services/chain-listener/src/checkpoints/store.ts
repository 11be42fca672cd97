import type { Database } from '@ponte/service-kit'
import { LEASE_GUARD, mapLeaseLoss } from '../store/lease'

/** A log that a checkpoint states, with its block. Addresses are lower-case. */
export interface CheckpointLog {
  blockNumber: number
  blockHash: string
  txHash: string
  logIndex: number
  router: string
  memo: string
  merchant: string
  payer: string
  share: bigint
  fee: bigint
}

export interface Checkpoint {
  chainId: number
  token: string
  routers: string[]
  fromBlock: number
  toBlock: number
  blockHash: string
  payments: number
  previousHash: string
  hash: string
  late: CheckpointLog[]
  gone: CheckpointLog[]
}

export interface NextCheckpoint {
  first: number
  from: number
  to: number
  previousHash: string
  /** Of `to`; null where the block is not remembered any more. */
  blockHash: string | null
}

/** A checkpoint that is not what the rows come to. */
export interface Misfit {
  to: number
  detail: string
}

const ZERO_HASH = `0x${'0'.repeat(64)}`
/** Logs of earlier blocks in one checkpoint; what is left over stands in the next. */
export const LATE_MAX = 1_000

const COLUMNS = 'block_number, block_hash, tx_hash, log_index, router, memo, merchant, payer, amount, fee'
const PARTS = { payment: 1, late: 2, gone: 3 } as const
const IS_LOG = "kind <> 'transfer' AND fee IS NOT NULL"
// A log that is gone stays in the checkpoint that had it.
const STANDS = "(state = 'confirmed' OR checkpoint_gone IS NOT NULL)"

/** Of a checkpoint `c` and its `logs`: the canonical text of docs/chain.md, hashed. */
const HASH = `'0x' || encode(sha256(convert_to(
  concat_ws(E'\\n', 'ponte.checkpoint.1', c.previous_hash, c.chain_id, c.token, array_to_string(c.routers, ','),
    c.from_block || ' ' || c.to_block || ' ' || c.block_hash) || E'\\n' ||
  coalesce(string_agg(concat_ws(' ', CASE part WHEN 1 THEN 'payment' WHEN 2 THEN 'late' ELSE 'gone' END, block_number, logs.block_hash, tx_hash, log_index,
    router, memo, merchant, payer, amount - fee, fee) || E'\\n', '' ORDER BY part, block_number, logs.block_hash COLLATE "C", log_index)
    FILTER (WHERE part IS NOT NULL), ''), 'UTF8')), 'hex')`

// Raw SQL: a look into two indexes. Logs whose fee an early release did not read are in no checkpoint, so the first one begins above them.
const POSITION = `
  SELECT confirmed_number::float8 AS confirmed, last.to_block::float8 AS "lastTo", coalesce(last.hash, $2) AS "previousHash",
    coalesce((SELECT from_block FROM checkpoints WHERE chain_id = $1 ORDER BY to_block LIMIT 1), greatest(start_block,
      (SELECT max(block_number) + 1 FROM payments WHERE chain_id = $1 AND kind <> 'transfer' AND fee IS NULL)))::float8 AS first
  FROM chain_cursor LEFT JOIN LATERAL (SELECT to_block, hash FROM checkpoints WHERE chain_id = $1 ORDER BY to_block DESC LIMIT 1) AS last ON true
  WHERE chain_cursor.chain_id = $1`
const IS_READ = `
  SELECT NOT EXISTS (SELECT 1 FROM coverage WHERE chain_id = $1 AND subject = ANY($2::text[]) AND NOT blocks @> int8range($3::bigint, $4::bigint + 1)) AS "isRead",
    (SELECT hash FROM blocks WHERE chain_id = $1 AND number = $4::bigint) AS "blockHash"`

// Raw SQL, one statement under the lease: the logs are marked with the checkpoint that has them, and hashed as they were marked. Another replica, or the same
// one after a restart, finds the primary key taken and marks nothing.
const WRITE = `
  WITH ${LEASE_GUARD},
  late AS (
    SELECT block_hash, log_index FROM payments
    WHERE chain_id = $1 AND checkpoint IS NULL AND ${IS_LOG} AND state = 'confirmed' AND block_number >= $3::bigint AND block_number < $4::bigint
    ORDER BY block_number, log_index LIMIT ${LATE_MAX}),
  held AS (
    UPDATE payments SET checkpoint = $5::bigint
    WHERE chain_id = $1 AND checkpoint IS NULL AND ${IS_LOG} AND state = 'confirmed' AND block_number BETWEEN $3::bigint AND $5::bigint
      AND (block_number >= $4::bigint OR (block_hash, log_index) IN (SELECT block_hash, log_index FROM late))
    RETURNING CASE WHEN block_number < $4::bigint THEN ${PARTS.late} ELSE ${PARTS.payment} END AS part, ${COLUMNS}),
  gone AS (
    UPDATE payments SET checkpoint_gone = $5::bigint
    WHERE chain_id = $1 AND checkpoint IS NOT NULL AND state = 'orphaned' AND checkpoint_gone IS NULL
    RETURNING ${PARTS.gone} AS part, ${COLUMNS}),
  logs AS (SELECT * FROM held UNION ALL SELECT * FROM gone),
  c AS (
    SELECT $1::bigint AS chain_id, $5::bigint AS to_block, $4::bigint AS from_block, $6::text AS block_hash, $7::text AS token, $8::text[] AS routers,
      $9::text AS previous_hash)
  INSERT INTO checkpoints (chain_id, to_block, from_block, block_hash, token, routers, payments, previous_hash, hash)
  SELECT c.chain_id, c.to_block, c.from_block, c.block_hash, c.token, c.routers, count(*) FILTER (WHERE part = ${PARTS.payment}), c.previous_hash, ${HASH}
  FROM c LEFT JOIN logs ON true
  GROUP BY c.chain_id, c.to_block, c.from_block, c.block_hash, c.token, c.routers, c.previous_hash`

const logsOf = (one: string) => `
  SELECT CASE WHEN block_number < ${one}.from_block THEN ${PARTS.late} ELSE ${PARTS.payment} END AS part, ${COLUMNS} FROM payments
  WHERE chain_id = ${one}.chain_id AND checkpoint = ${one}.to_block AND ${IS_LOG} AND ${STANDS}
  UNION ALL
  SELECT ${PARTS.gone}, ${COLUMNS} FROM payments
  WHERE chain_id = ${one}.chain_id AND checkpoint IS NOT NULL AND state = 'orphaned' AND checkpoint_gone = ${one}.to_block AND ${IS_LOG}`

// Raw SQL: so many checkpoints behind one, each hashed anew from the rows that are marked with it, and held against the one before it.
const CHECK = `
  WITH page AS (SELECT * FROM checkpoints WHERE chain_id = $1 AND to_block > $2 ORDER BY to_block LIMIT $3)
  SELECT c.to_block::float8 AS to, c.hash = ${HASH} AND c.payments = count(*) FILTER (WHERE part = ${PARTS.payment}) AS fits,
    c.previous_hash = coalesce(before.hash, $4) AND (before.to_block IS NULL OR before.to_block + 1 = c.from_block) AS follows
  FROM page AS c
  LEFT JOIN LATERAL (${logsOf('c')}) AS logs ON true
  LEFT JOIN LATERAL (SELECT to_block, hash FROM checkpoints WHERE chain_id = $1 AND to_block < c.to_block ORDER BY to_block DESC LIMIT 1) AS before ON true
  GROUP BY c.chain_id, c.to_block, c.from_block, c.block_hash, c.token, c.routers, c.payments, c.previous_hash, c.hash, before.hash, before.to_block
  ORDER BY c.to_block`
const UNKNOWN_MARK = `
  SELECT checkpoint::float8 AS to FROM payments
  WHERE chain_id = $1 AND checkpoint IS NOT NULL AND checkpoint > coalesce((SELECT max(to_block) FROM checkpoints WHERE chain_id = $1), -1) LIMIT 1`

const LIST = `
  SELECT chain_id::float8 AS "chainId", token, routers, from_block::float8 AS "fromBlock", to_block::float8 AS "toBlock", block_hash AS "blockHash", payments,
    previous_hash AS "previousHash", hash
  FROM checkpoints WHERE chain_id = $1 AND to_block > $2 ORDER BY to_block LIMIT $3`
const LISTED_LOGS = `
  SELECT c.to_block::float8 AS to, part, logs.block_number::float8 AS "blockNumber", logs.block_hash AS "blockHash", tx_hash AS "txHash", log_index AS "logIndex",
    router, memo, merchant, payer, (amount - fee)::text AS share, fee::text AS fee
  FROM checkpoints AS c CROSS JOIN LATERAL (${logsOf('c')}) AS logs
  WHERE c.chain_id = $1 AND c.to_block BETWEEN $2 AND $3 AND part <> ${PARTS.payment}
  ORDER BY c.to_block, part, block_number, logs.block_hash COLLATE "C", log_index`

interface LogRow extends Omit<CheckpointLog, 'share' | 'fee'> {
  to: number
  part: number
  share: string
  fee: string
}

export type CheckpointStore = ReturnType<typeof checkpointStore>

/** Checkpoints of one chain, made of its payments and sweeps in the database that has them. */
export function checkpointStore(database: Database, chainId: number) {
  return {
    async next(blocks: number, routers: readonly string[]): Promise<NextCheckpoint | undefined> {
      const position = { name: 'checkpoint-position', text: POSITION }
      const { rows } = await database.query<{
        confirmed: number | null
        lastTo: number | null
        previousHash: string
        first: number
      }>(position, [chainId, ZERO_HASH])
      const row = rows[0]
      if (!row || row.confirmed === null) return undefined
      const from = row.lastTo === null ? row.first : row.lastTo + 1
      const to = (Math.floor(from / blocks) + 1) * blocks - 1
      if (to > row.confirmed) return undefined
      const read = await database.query<{ isRead: boolean; blockHash: string | null }>({ name: 'checkpoint-is-read', text: IS_READ }, [
        chainId,
        routers,
        from,
        to,
      ])
      const { isRead = false, blockHash = null } = read.rows[0] ?? {}
      return isRead ? { first: row.first, from, to, previousHash: row.previousHash, blockHash } : undefined
    },
    /** Writes it once. Throws LeaseLostError. */
    async write(
      epoch: bigint,
      { first, from, to, previousHash }: NextCheckpoint,
      of: { blockHash: string; token: string; routers: readonly string[] },
    ): Promise<void> {
      const routers = [...of.routers].sort()
      const values = [chainId, epoch, first, from, to, of.blockHash, of.token, routers, previousHash]
      await mapLeaseLoss(database.query({ name: 'checkpoint-write', text: WRITE }, values))
    },
    async list(after: number, limit: number): Promise<Checkpoint[]> {
      const { rows } = await database.query<Omit<Checkpoint, 'late' | 'gone'>>({ name: 'checkpoint-list', text: LIST }, [
        chainId,
        after,
        limit,
      ])
      const [first, last] = [rows[0], rows.at(-1)]
      if (!first || !last) return []
      const listed = { name: 'checkpoint-logs', text: LISTED_LOGS }
      const logs = (await database.query<LogRow>(listed, [chainId, first.toBlock, last.toBlock])).rows
      const of = (to: number, wanted: number) => logs.filter(one => one.to === to && one.part === wanted).map(toLog)
      return rows.map(row => ({ ...row, late: of(row.toBlock, PARTS.late), gone: of(row.toBlock, PARTS.gone) }))
    },
    /** Hashes so many checkpoints behind a block anew. Answers how far it came, null at the end, and those that do not fit. */
    async check(after: number, limit: number): Promise<{ checked: number[]; misfits: Misfit[] }> {
      const { rows } = await database.query<{ to: number; fits: boolean; follows: boolean }>({ name: 'checkpoint-check', text: CHECK }, [
        chainId,
        after,
        limit,
        ZERO_HASH,
      ])
      const misfits = rows.flatMap(({ to, fits, follows }) => [
        ...(fits ? [] : [{ to, detail: `the checkpoint of block ${to} does not fit what is booked of its blocks` }]),
        ...(follows ? [] : [{ to, detail: `the checkpoint of block ${to} does not follow the one before it` }]),
      ])
      const [unknown] = (await database.query<{ to: number }>({ name: 'checkpoint-unknown', text: UNKNOWN_MARK }, [chainId])).rows
      if (unknown)
        misfits.push({ to: unknown.to, detail: `a payment is booked for a checkpoint of block ${unknown.to}, which is not there` })
      return { checked: rows.map(({ to }) => to), misfits }
    },
    /** The checkpoint that so many are newer than; -1 when there are fewer. */
    async olderThanNewest(count: number): Promise<number> {
      const text = 'SELECT to_block::float8 AS to FROM checkpoints WHERE chain_id = $1 ORDER BY to_block DESC OFFSET $2 LIMIT 1'
      return (await database.query<{ to: number }>({ name: 'checkpoint-newest', text }, [chainId, count])).rows[0]?.to ?? -1
    },
  }
}

const toLog = ({ to, part, share, fee, ...row }: LogRow): CheckpointLog => ({ ...row, share: BigInt(share), fee: BigInt(fee) })
