import { formatUsdc, parseUsdc, type RefundObserved, type RefundWatch } from '@ponte/contracts'
import { type Database, flag, int, outboxRows, type Statement, table, text, units } from '@ponte/service-kit'
import { z } from 'zod'
import type { NonceEnd } from '../logs/nonce-end'
import type { Confirmed } from '../store/confirmed'
import { mapLeaseLoss } from '../store/lease'

const watches = table('refund_watches', {
  refundId: text,
  orderId: text,
  fromAddress: text,
  payee: text,
  units,
  nonce: text,
  watchFrom: int,
  validBefore: int.nullable(),
  asked: flag,
  revision: int,
  publishedTime: int.nullable(),
  publishedBalance: units.nullable(),
  ended: z.enum(['transferred', 'cancelled']).nullable(),
  txHash: text.nullable(),
  logIndex: int.nullable(),
  blockNumber: int.nullable(),
  blockTime: int.nullable(),
})
type Row = ReturnType<typeof watches.parse>

/** A nonce that is watched, with what orders was last informed of. Addresses are lower-case, times Unix seconds. */
export type Watched = Omit<Row, 'ended' | 'txHash' | 'logIndex' | 'blockNumber' | 'blockTime'> & {
  ended: (Omit<NonceEnd, 'blockHash'> & { blockTime: number }) | null
}

/** As enough nodes have it at the confirmed block. */
export interface Observed {
  watched: Watched
  balance: bigint | null
  ended: Watched['ended']
  /** No reorganisation that is followed reaches its end. */
  isFinal: boolean
  /** The first block in which its end may stand. */
  searchFrom: number
}

/** The head that orders knew of was confirmed, and may still be ahead of this chain's where a database went back. */
const WATCH_MARGIN = 128
/** What orders has not asked about for so long is watched no more. */
const FORGOTTEN = "interval '30 days'"

// The signature with the latest expiry is submitted. Of a refund that is cancelled none that is known by then, however late its event comes; a later one is
// signed only where orders has lost the cancellation.
const IS_NEWER = `EXCLUDED.signature IS NOT NULL AND EXCLUDED.signature IS DISTINCT FROM known.signature AND EXCLUDED.valid_before >= coalesce(known.valid_before, 0)
  AND EXCLUDED.valid_before > coalesce(known.withdrawn_until, 0)`
const IS_WITHDRAWN = 'EXCLUDED.withdrawn_until IS NOT NULL'
const withNewer = (column: string, value: string) => `${column} = CASE WHEN ${IS_NEWER} THEN ${value} ELSE known.${column} END`
// Raw SQL, because many are one insert. A later end of what was signed is one more reason to look.
const ADD: Statement = {
  name: 'refunds-add',
  text: `
  INSERT INTO refund_watches AS known (chain_id, refund_id, order_id, from_address, payee, units, nonce, watch_from, valid_before, asked_at, signature, withdrawn_until)
  SELECT chain_id, refund_id, order_id, from_address, payee, units, nonce, greatest(0, least(watch_from, (
    SELECT scanned_number - ${WATCH_MARGIN} FROM chain_cursor AS cursor WHERE cursor.chain_id = incoming.chain_id))), valid_before, $at::timestamptz, signature, withdrawn_until
  FROM json_populate_recordset(NULL::refund_watches, $refund_watches) AS incoming
  ON CONFLICT (chain_id, refund_id) DO UPDATE SET asked = true, asked_at = EXCLUDED.asked_at, is_final = false,
    valid_before = greatest(known.valid_before, EXCLUDED.valid_before),
    withdrawn_until = CASE WHEN ${IS_WITHDRAWN} THEN greatest(known.withdrawn_until, known.valid_before, EXCLUDED.withdrawn_until) ELSE known.withdrawn_until END,
    signature = CASE WHEN ${IS_WITHDRAWN} THEN NULL WHEN ${IS_NEWER} THEN EXCLUDED.signature ELSE known.signature END, ${withNewer('signed_at', 'now()')}, ${withNewer('failures', '0')}, ${withNewer('retry_at', 'NULL')}`,
}

// What was signed is looked at in every block until its end was published, and what has ended until it is final. The rest when orders asks, every ten minutes: making refunds
// costs a merchant nothing, and a question to every node does.
const IS_OPEN = `chain_id = $1 AND NOT is_final AND asked_at > now() - ${FORGOTTEN}
  AND (asked OR ended IS NOT NULL OR (valid_before IS NOT NULL AND (published_time IS NULL OR published_time < valid_before)))`
const WATCHED = `SELECT ${watches.select()} FROM refund_watches WHERE chain_id = $1 AND refund_id > $2`
const OPEN = `${WATCHED} AND ${IS_OPEN} ORDER BY refund_id LIMIT $3`
const PAGE = `${WATCHED} ORDER BY refund_id LIMIT $3`
const DUE = `SELECT bool_or(asked) AS asked FROM refund_watches WHERE ${IS_OPEN}`
// Raw SQL: observed under the lease's guard, with the events about them. A question that came meanwhile stands: it counts by its time.
const PUBLISH: Statement = {
  name: 'refunds-publish',
  text: `
  WITH lease AS (UPDATE chain_cursor SET epoch = CASE WHEN epoch = $epoch AND generation = $generation::uuid THEN epoch END WHERE chain_id = $chain_id)
  UPDATE refund_watches AS known SET asked = known.asked AND known.valid_before IS DISTINCT FROM incoming.valid_before, revision = incoming.revision, watch_from = incoming.watch_from,
    published_time = incoming.published_time, published_balance = incoming.published_balance, ended = incoming.ended, tx_hash = incoming.tx_hash,
    log_index = incoming.log_index, block_number = incoming.block_number, block_time = incoming.block_time, is_final = incoming.is_final
  FROM json_populate_recordset(NULL::refund_watches, $refund_watches) AS incoming
  WHERE known.chain_id = $chain_id AND known.refund_id = incoming.refund_id AND known.revision = incoming.revision - 1`,
}
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

export function refundStore(database: Database, chainId: number) {
  return {
    /** Watches these; what is watched already is answered for once more. */
    async add({ refunds }: RefundWatch, eventId: string, at: Date): Promise<void> {
      const rows = refunds.map(refund => ({
        ...{
          chain_id: chainId,
          refund_id: refund.refund_id,
          order_id: refund.order_id,
          nonce: refund.nonce,
          watch_from: refund.watch_from,
        },
        ...{ from_address: refund.from_address.toLowerCase(), payee: refund.payee_address.toLowerCase(), units: parseUsdc(refund.amount) },
        valid_before: refund.valid_before,
        signature: refund.signature ?? null,
        withdrawn_until: refund.is_withdrawn ? (refund.valid_before ?? 0) : null,
      }))
      await database.commit({ inbox: [eventId], write: ADD, rows: { refund_watches: rows }, values: { at } })
    },

    /** Whether any are watched, and any are asked for. */
    async due(): Promise<{ isAny: boolean; isAsked: boolean }> {
      const { rows } = await database.query<{ asked: boolean | null }>({ name: 'refunds-due', text: DUE }, [chainId])
      return { isAny: rows[0]?.asked !== null && rows[0]?.asked !== undefined, isAsked: rows[0]?.asked === true }
    },

    /** Those that have not ended for good, after this one. */
    async open(after: string | null, limit: number): Promise<Watched[]> {
      return (await database.query({ name: 'refunds-open', text: OPEN }, [chainId, after ?? FIRST_ID, limit])).rows.map(toWatched)
    },

    /** All that were ever watched, after this one. */
    async page(after: string | null, limit: number): Promise<Watched[]> {
      return (await database.query({ name: 'refunds-page', text: PAGE }, [chainId, after ?? FIRST_ID, limit])).rows.map(toWatched)
    },

    /** Informs orders of these, as of a confirmed block. Throws LeaseLostError. */
    async publish(
      epoch: bigint,
      confirmed: Confirmed,
      observed: readonly Observed[],
      checksum: (address: string) => string,
      at: Date,
    ): Promise<void> {
      const data = observed.map(each => toStatement(each, confirmed, chainId, checksum))
      const rows = observed.map(({ watched, balance, ended, isFinal, searchFrom }) => ({
        ...{
          refund_id: watched.refundId,
          valid_before: watched.validBefore,
          watch_from: searchFrom,
          revision: watched.revision + 1,
          published_time: confirmed.time,
        },
        ...{ published_balance: balance ?? watched.publishedBalance, ended: ended?.kind ?? null, tx_hash: ended?.txHash ?? null },
        ...{
          log_index: ended?.logIndex ?? null,
          block_number: ended?.blockNumber ?? null,
          block_time: ended?.blockTime ?? null,
          is_final: isFinal,
        },
      }))
      await mapLeaseLoss(
        database.commit({
          events: outboxRows(
            data.map(each => ({ type: 'refund.observed', data: each }) as const),
            at,
          ),
          write: PUBLISH,
          rows: { refund_watches: rows },
          values: { chain_id: chainId, epoch, generation: confirmed.generation },
        }),
      )
    },
  }
}

function toWatched(found: unknown): Watched {
  const { ended: kind, txHash, logIndex, blockNumber, blockTime, ...row } = watches.parse(found)
  const isEnded = kind !== null && txHash !== null && logIndex !== null && blockNumber !== null && blockTime !== null
  return { ...row, ended: isEnded ? { kind, txHash, logIndex, blockNumber, blockTime } : null }
}

const iso = (seconds: number) => new Date(seconds * 1_000).toISOString()

function toStatement(
  { watched, balance, ended }: Observed,
  confirmed: Confirmed,
  chainId: number,
  checksum: (address: string) => string,
): RefundObserved {
  return {
    chain_id: chainId,
    generation: confirmed.generation,
    revision: watched.revision + 1,
    refund_id: watched.refundId,
    order_id: watched.orderId,
    from_address: checksum(watched.fromAddress),
    payee_address: checksum(watched.payee),
    amount: formatUsdc(watched.units),
    nonce: watched.nonce,
    watch_from: watched.watchFrom,
    valid_before: watched.validBefore,
    block_number: confirmed.number,
    block_time: iso(confirmed.time),
    wallet_balance: balance === null ? null : formatUsdc(balance),
    end: ended && {
      kind: ended.kind,
      tx_hash: ended.txHash,
      log_index: ended.logIndex,
      block_number: ended.blockNumber,
      block_time: iso(ended.blockTime),
    },
  }
}
