import { type Database, int, text, time, units } from '@ponte/service-kit'
import { z } from 'zod'
import type { Reached } from '../ledger/dossier-basis'
import type { Order } from '../order/order'
import { orders, toOrder } from './rows'

// An entry that was taken back counts for nothing. Its reversal is of the same transaction.
const STANDS = `reverses IS NULL AND NOT EXISTS (
    SELECT FROM entries AS taken WHERE taken.tx_hash = entries.tx_hash AND taken.merchant_id = $1 AND taken.reverses = entries.sequence AND taken.sequence <= $2)`
const REACHED = (kind: string) => `
  (SELECT sequence, units FROM entries WHERE merchant_id = $1 AND kind = '${kind}' AND sequence <= $2 AND lower(address) = lower($3) AND chain_id = $5 AND ${STANDS}
    ORDER BY sequence DESC LIMIT $4)`
// Raw SQL: each kind by its index, the newest first.
const NEWEST = `SELECT sequence, units FROM (${REACHED('settled')} UNION ALL ${REACHED('direct')}) AS reached ORDER BY sequence DESC LIMIT $4`
const NAMED = `
  SELECT sequence, units, chain_id FROM entries WHERE merchant_id = $1 AND sequence <= $2 AND sequence = ANY($3::bigint[]) AND kind IN ('settled', 'direct') AND ${STANDS}
  ORDER BY sequence DESC`

const PLACE =
  'tx_hash AS "txHash", log_index AS "logIndex", block_number AS "blockNumber", block_hash AS "blockHash", block_time AS "blockTime"'
// Raw SQL: an entry with the row of the books that it is of. An attached payment carries its own memo on the chain.
const ORIGINS = `
  SELECT entry.sequence, entry.kind AS entry_kind, entry.at, entry.units, entry.order_id AS "orderId", entry.address AS "payoutAddress", entry.tx_hash AS "txHash",
    entry.log_index AS "logIndex", entry.block_number AS "blockNumber", entry.block_time AS "blockTime",
    coalesce((SELECT fee.units FROM entries AS fee WHERE fee.tx_hash = entry.tx_hash AND fee.merchant_id = entry.merchant_id AND fee.log_index = entry.log_index
      AND fee.kind = 'fee' AND fee.reverses IS NULL AND fee.sequence <= $2 ORDER BY fee.sequence DESC LIMIT 1), 0) AS "feeUnits",
    source.*
  FROM entries AS entry LEFT JOIN LATERAL (
    SELECT 'sweep' AS kind, block_hash AS "blockHash", router_address AS "routerAddress", memo, deposit_address AS "depositAddress", NULL AS "payerAddress"
    FROM sweeps WHERE tx_hash = entry.tx_hash AND log_index = entry.log_index AND block_number = entry.block_number AND status = 'confirmed'
    UNION ALL
    SELECT 'router', paid.block_hash, coalesce((SELECT other->>'routerAddress' FROM jsonb_array_elements(orders.networks) AS other
        WHERE (other->>'chainId')::int = entry.chain_id), orders.router_address), coalesce((SELECT memo FROM attachments WHERE payment_id = paid.id), orders.memo), NULL, paid.payer_address
    FROM payments AS paid JOIN orders ON orders.id = paid.order_id
    WHERE paid.tx_hash = entry.tx_hash AND paid.log_index = entry.log_index AND paid.block_number = entry.block_number AND paid.status = 'confirmed' AND paid.kind = 'router'
    UNION ALL
    SELECT CASE entry.kind WHEN 'direct' THEN 'direct' ELSE 'router' END, block_hash, CASE entry.kind WHEN 'settled' THEN router_address END,
      CASE entry.kind WHEN 'settled' THEN memo END, NULL, payer_address
    FROM unmatched_payments WHERE tx_hash = entry.tx_hash AND log_index = entry.log_index AND block_number = entry.block_number AND status = 'confirmed'
      AND kind = CASE entry.kind WHEN 'direct' THEN 'transfer' ELSE 'router' END
    LIMIT 1) AS source ON true
  WHERE entry.merchant_id = $1 AND entry.sequence = ANY($3::bigint[]) ORDER BY entry.sequence DESC`

// Raw SQL: what lay at the address since the sweep before on its chain: a sweep takes all of it. The largest of them, for anyone can send as many as they like.
const SWEPT = `
  WITH swept AS (SELECT * FROM sweeps WHERE tx_hash = $1 AND log_index = $2 AND status = 'confirmed'),
  before AS (
    SELECT sweeps.block_number, sweeps.log_index FROM sweeps JOIN swept ON sweeps.memo = swept.memo AND lower(sweeps.deposit_address) = lower(swept.deposit_address)
      AND sweeps.chain_id = swept.chain_id
    WHERE sweeps.status = 'confirmed' AND (sweeps.block_number, sweeps.log_index) < (swept.block_number, swept.log_index)
    ORDER BY sweeps.block_number DESC, sweeps.log_index DESC LIMIT 1),
  came AS (
    SELECT paid.id, paid.tx_hash, paid.log_index, paid.block_number, paid.block_hash, paid.block_time, paid.payer_address, paid.gross_units, paid.deposit_address, paid.status, paid.kind
    FROM payments AS paid JOIN orders ON orders.id = paid.order_id JOIN swept ON orders.memo = swept.memo
    UNION
    SELECT paid.id, paid.tx_hash, paid.log_index, paid.block_number, paid.block_hash, paid.block_time, paid.payer_address, paid.gross_units, paid.deposit_address, paid.status, paid.kind
    FROM attachments JOIN swept ON attachments.memo = swept.memo JOIN payments AS paid ON paid.id = attachments.payment_id
    UNION
    SELECT paid.id, paid.tx_hash, paid.log_index, paid.block_number, paid.block_hash, paid.block_time, paid.payer_address, paid.gross_units, paid.deposit_address, paid.status, paid.kind
    FROM unmatched_payments AS paid JOIN swept ON paid.memo = swept.memo)
  SELECT ${PLACE}, payer_address AS "payerAddress", gross_units AS units, count(*) OVER () AS found FROM came
  WHERE kind = 'transfer' AND status = 'confirmed' AND lower(deposit_address) = (SELECT lower(deposit_address) FROM swept)
    AND (block_hash IS NULL OR split_part(id, ':', 1) = (SELECT chain_id::text FROM swept))
    AND (block_number, log_index) < (SELECT block_number, log_index FROM swept)
    AND (block_number, log_index) > (SELECT coalesce((SELECT block_number FROM before), -1), coalesce((SELECT log_index FROM before), -1))
  ORDER BY gross_units DESC, block_number, log_index LIMIT $3`

const place = { txHash: text, logIndex: int, blockNumber: int, blockHash: text.nullable(), blockTime: time }
const origin = z.object({
  ...place,
  sequence: int,
  kind: z.enum(['router', 'sweep', 'direct']),
  at: time,
  units,
  feeUnits: units,
  orderId: text.nullable(),
  payoutAddress: text,
  routerAddress: text.nullable(),
  memo: text.nullable(),
  depositAddress: text.nullable(),
  payerAddress: text.nullable(),
})
/** An entry that reached a payout address, with what the books have of it. */
export type StoredOrigin = z.infer<typeof origin>
const transfer = z.object({ ...place, payerAddress: text.nullable(), units, found: int })
export type StoredTransfer = Omit<z.infer<typeof transfer>, 'found'>

interface ReachedRow {
  sequence: string
  units: string
}
const toReached = ({ sequence, units }: ReachedRow): Reached => ({ sequence: Number(sequence), units: BigInt(units) })

export function dossierStore(database: Database) {
  return {
    /** Standing entries that reached this address, newest first. */
    async newest(
      merchantId: string,
      through: number,
      { payoutAddress, chainId }: { payoutAddress: string; chainId: number },
      limit: number,
    ): Promise<Reached[]> {
      const values = [merchantId, through, payoutAddress, limit, chainId]
      const { rows } = await database.query<ReachedRow>({ name: 'dossier-newest', text: NEWEST }, values)
      return rows.map(toReached)
    },

    async named(merchantId: string, through: number, sequences: readonly number[]): Promise<(Reached & { chainId: number })[]> {
      const values = [merchantId, through, sequences]
      const { rows } = await database.query<ReachedRow & { chain_id: number }>({ name: 'dossier-named', text: NAMED }, values)
      return rows.map(row => ({ ...toReached(row), chainId: row.chain_id }))
    },

    async orders(ids: readonly string[]): Promise<Map<string, Order>> {
      if (ids.length === 0) return new Map()
      const { rows } = await database.query(
        { name: 'dossier-orders', text: `SELECT ${orders.select()} FROM orders WHERE id = ANY($1::uuid[])` },
        [ids],
      )
      return new Map(rows.map(toOrder).map(order => [order.id, order]))
    },

    async origins(merchantId: string, through: number, sequences: readonly number[]): Promise<StoredOrigin[]> {
      const { rows } = await database.query({ name: 'dossier-origins', text: ORIGINS }, [merchantId, through, sequences])
      return rows.map(row => origin.parse(row))
    },

    /** Transfers that a sweep took from its address: the largest, in the order of the chain, and how many more there are. */
    async swept({ txHash, logIndex }: StoredOrigin, limit: number): Promise<{ transfers: StoredTransfer[]; more: number }> {
      const { rows } = await database.query({ name: 'dossier-swept', text: SWEPT }, [txHash, logIndex, limit])
      const found = rows.map(row => transfer.parse(row))
      const transfers = found.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
      return { transfers, more: Math.max(0, (found[0]?.found ?? 0) - found.length) }
    },
  }
}
