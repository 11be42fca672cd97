import type { Statement } from '@ponte/service-kit'

const NEW_COLUMNS = [
  'chain_id',
  'order_id',
  'memo',
  'merchant',
  'router',
  'address',
  'merchant_is_contract',
  'expires_at',
  'watch_from',
  'merchant_id',
  'asked_units',
  'cancelled_at',
]
/** The head that orders knew of may be one that a single node invented: an address is read from so many blocks below the scan at least. */
const WATCH_MARGIN = 128
/** A chain may be so many times as fast as its profile states. */
const FASTER = 4
/** Seconds by which the clock of orders and the chain's may differ, with much to spare. */
const CLOCKS_S = 3_600
// Orders that did not know a head states 0: then it is the age of the order, which its id begins with, that bounds how far back it is read.
const IS_DATED = 'get_byte(uuid_send(incoming.order_id), 6) >> 4 = 7'
const BORN_S = "('x' || left(replace(incoming.order_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0"
/** The scan's block of that time at the earliest, in Unix seconds. */
const blockAt = (seconds: string) =>
  `scanned_number - ceil((greatest(0, extract(epoch FROM scanned_time) - ${seconds}) + ${CLOCKS_S}) * ${1_000 * FASTER} / $block_ms::numeric)::bigint`
const BY_AGE = `(SELECT ${blockAt(BORN_S)}
  FROM chain_cursor AS cursor WHERE cursor.chain_id = incoming.chain_id AND ${IS_DATED})`
const WATCH_FROM = `greatest(0, least(CASE WHEN incoming.watch_from > 0 THEN incoming.watch_from ELSE coalesce(${BY_AGE}, 0) END,
  (SELECT scanned_number - ${WATCH_MARGIN} FROM chain_cursor AS cursor WHERE cursor.chain_id = incoming.chain_id)))`
const incomingValue = (column: string) => ({ watch_from: WATCH_FROM })[column] ?? `incoming.${column}`
// Raw, because the orders of one moment are one insert. What is known already is asked for once more, and keeps its terms. Before the first block in
// which an address can have been paid there is nothing to read. Orders may have lost an order that it asks about again, with what was stated of its refunds for
// as long as outboxes keep it.
export const ADD: Statement = {
  name: 'payables-add',
  text: `WITH added AS (
    INSERT INTO payables (${NEW_COLUMNS.join(', ')}, asked) SELECT ${NEW_COLUMNS.map(incomingValue).join(', ')}, 1
    FROM json_populate_recordset(NULL::payables, $payables) AS incoming
    ON CONFLICT (chain_id, order_id) DO UPDATE SET asked = payables.asked + 1, cancelled_at = coalesce(payables.cancelled_at, EXCLUDED.cancelled_at)
    RETURNING chain_id, order_id, address, watch_from, asked),
  refunds AS (
    UPDATE refund_watches SET asked = true, asked_at = now(), is_final = false FROM added
    WHERE added.asked > 1 AND refund_watches.chain_id = added.chain_id AND refund_watches.order_id = added.order_id AND asked_at > now() - interval '7 days')
  INSERT INTO coverage (chain_id, subject, blocks) SELECT chain_id, address, int8multirange(int8range(NULL, min(watch_from))) FROM added
  WHERE address IS NOT NULL GROUP BY chain_id, address ON CONFLICT DO NOTHING`,
}

// Raw, because many are one insert, each once. Of an address that is known already nothing changes; how it is watched is published once more. What was a payout address before the first block that
// is read for it is read from the time since when it was one.
export const ADD_PAYOUTS: Statement = {
  name: 'payouts-add',
  text: `WITH added AS (
    INSERT INTO payouts (chain_id, address, watch_from)
    SELECT $chain_id::bigint, address, greatest(0, least(coalesce(watch_from, ${blockAt('incoming.since')}), scanned_number - ${WATCH_MARGIN}))
    FROM unnest($addresses::text[], $watch_from::bigint[], $since::float8[]) AS incoming (address, watch_from, since)
      LEFT JOIN chain_cursor ON chain_cursor.chain_id = $chain_id
    ORDER BY address ON CONFLICT (chain_id, address) DO UPDATE SET published_at = '-infinity'
    RETURNING chain_id, address, watch_from)
  INSERT INTO coverage (chain_id, subject, blocks) SELECT chain_id, address, int8multirange(int8range(NULL, watch_from)) FROM added ON CONFLICT DO NOTHING`,
}
