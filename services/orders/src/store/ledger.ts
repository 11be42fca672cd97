import { entryKind, fiscalDocumentKey, type ListEntries } from '@ponte/contracts'
import { type Database, type EpochSpan, int, type NumberedHistory, table, text, time, units } from '@ponte/service-kit'
import { z } from 'zod'
import type { Entry, KindSum, PayoutAccount } from '../ledger/entry'
import type { Moved } from '../ledger/platform-fee'
import { FIRST_ID } from './chain'

/** An entry has no value by our median when that is older than this. */
const MARKET_RATE_AGE_MAX_M = 15

const entries = table('entries', {
  sequence: int,
  kind: entryKind,
  units,
  brlCentavos: units.nullable(),
  orderId: text.nullable(),
  reverses: int.nullable(),
  at: time,
  chainId: int,
  txHash: text,
  logIndex: int,
  blockNumber: units,
  blockTime: time,
  payerAddress: text.nullable(),
  address: text.nullable(),
  reason: text.nullable(),
  bookedAt: time,
})
/** Looked up when an entry is read; the entry itself never changes. */
const beside = z.object({
  fiscalDocument: fiscalDocumentKey.nullable(),
  marketRateMicros: units.nullable(),
  ptax: z.object({ day: text, rateMicros: units }).nullable(),
})
const parsed = (row: unknown): Entry => ({ ...entries.parse(row), ...beside.parse(row) })

// Raw SQL: what its order's fiscal document is now, and the last of each kind of rate that an entry is valued by. A day without PTAX has that of the day before once a later one is known, and none until then.
const BESIDE = `
  jsonb_build_object(
    'fiscalDocument', (SELECT jsonb_build_object('kind', document.kind, 'key', document.key) FROM fiscal_documents AS document WHERE document.order_id = page.order_id),
    'marketRateMicros', (SELECT rate_micros::text FROM market_rates
      WHERE at <= block_time AND at >= block_time - interval '${MARKET_RATE_AGE_MAX_M} minutes' ORDER BY at DESC LIMIT 1),
    'ptax', (SELECT jsonb_build_object('day', day, 'rateMicros', rate_micros::text) FROM ptax_rates
      WHERE day <= (block_time AT TIME ZONE 'America/Sao_Paulo')::date
        AND EXISTS (SELECT FROM ptax_rates AS later WHERE later.day >= (block_time AT TIME ZONE 'America/Sao_Paulo')::date)
      ORDER BY day DESC LIMIT 1))`

/** A part of a merchant's entries, from one quarter of an hour on and before another; as text, for it may be unbounded. */
export interface LedgerSpan {
  merchantId: string
  from: string
  until: string
}

interface SumFields {
  period: number
  kind: string
  movements: string
  units: string
  brl: string
}

// Raw SQL: each period is its whole days of UTC, and quarters of an hour before the first and after the last of them; the one before all begins with the ledger.
const SUMS = `
  WITH periods AS (
    SELECT period, start, until, least(CASE WHEN start = date_trunc('day', start, 'UTC') THEN start ELSE date_trunc('day', start, 'UTC') + interval '1 day' END, until) AS first,
      date_trunc('day', until, 'UTC') AS last
    FROM (SELECT n - 2 AS period, bound AS start, lead(bound) OVER (ORDER BY n) AS until
      FROM unnest('-infinity'::timestamptz || $2::timestamptz[] || $3::timestamptz) WITH ORDINALITY AS bounds (bound, n)) AS spans WHERE until IS NOT NULL),
  parts AS (
    SELECT period, kind, movements, units, brl_centavos FROM periods JOIN entry_day_sums ON merchant_id = $1 AND day >= first AND day < last
    UNION ALL
    SELECT period, kind, movements, units, brl_centavos FROM periods JOIN entry_sums ON merchant_id = $1 AND quarter >= start AND quarter < first
    UNION ALL
    SELECT period, kind, movements, units, brl_centavos FROM periods JOIN entry_sums ON merchant_id = $1 AND quarter >= greatest(last, first) AND quarter < until)
  SELECT period::int, kind, sum(movements) AS movements, sum(units) AS units, sum(brl_centavos) AS brl FROM parts GROUP BY 1, 2`

// Raw SQL: sums of two kinds by order, of what counts for it: what is swept on a network that it does not offer has its id as well.
const MOVED = `
  SELECT order_id, coalesce(sum(units) FILTER (WHERE kind = 'fee'), 0) AS fee, coalesce(sum(units) FILTER (WHERE kind = 'settled'), 0) AS settled
  FROM entries JOIN orders ON orders.id = order_id
  WHERE entries.merchant_id = $1 AND order_id = ANY($2::uuid[]) AND kind IN ('fee', 'settled')
    AND NOT orders.networks @> jsonb_build_array(jsonb_build_object('chainId', entries.chain_id, 'isOffered', false))
  GROUP BY order_id`

// Raw SQL: both sides are views. Entries without a transaction in the books cannot come to be.
const UNBOOKED = `
  WITH hashes AS MATERIALIZED (
    SELECT tx_hash FROM payments WHERE block_number BETWEEN $1 AND $2
    UNION SELECT tx_hash FROM sweeps WHERE block_number BETWEEN $1 AND $2
    UNION SELECT tx_hash FROM unmatched_payments WHERE block_number BETWEEN $1 AND $2
    UNION SELECT tx_hash FROM refunds WHERE block_number BETWEEN $1 AND $2),
  due AS (SELECT merchant_id, tx_hash, log_index, block_number, kind, units, order_id, reason FROM due_entries WHERE tx_hash = ANY(ARRAY(SELECT tx_hash FROM hashes))),
  standing AS (SELECT merchant_id, tx_hash, log_index, block_number, kind, units, order_id, reason FROM standing_entries WHERE tx_hash = ANY(ARRAY(SELECT tx_hash FROM hashes)))
  SELECT DISTINCT tx_hash FROM ((TABLE due EXCEPT ALL TABLE standing) UNION ALL (TABLE standing EXCEPT ALL TABLE due)) AS differing`

// Raw SQL: the least of four tables, each by its index.
const NEXT_BLOCK = `
  SELECT least((SELECT min(block_number) FROM payments WHERE block_number >= $1), (SELECT min(block_number) FROM sweeps WHERE block_number >= $1),
    (SELECT min(block_number) FROM unmatched_payments WHERE block_number >= $1), (SELECT min(block_number) FROM refunds WHERE block_number >= $1))::text AS block`

// Raw SQL: the sums that are kept beside the entries of some merchants from a quarter on and before another, and how many there are.
const WRONG_SUMS = (merchants: string) => `
  WITH looked AS (${merchants}),
  counted AS (
    SELECT merchant_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z') AS quarter, kind, sum(CASE WHEN reverses IS NULL THEN 1 ELSE -1 END) AS movements,
      sum(units) AS units, coalesce(sum(brl_centavos), 0) AS brl_centavos
    FROM looked JOIN entries USING (merchant_id) WHERE at >= $1 AND at < $2 GROUP BY 1, 2, 3)
  SELECT coalesce(counted.merchant_id, kept.merchant_id) AS merchant_id FROM counted
  FULL JOIN (SELECT entry_sums.* FROM looked JOIN entry_sums USING (merchant_id) WHERE quarter >= $1 AND quarter < $2) AS kept USING (merchant_id, quarter, kind)
  WHERE (counted.movements, counted.units, counted.brl_centavos) IS DISTINCT FROM (kept.movements, kept.units, kept.brl_centavos)
  UNION
  SELECT coalesce(days.merchant_id, kept.merchant_id) FROM (
    SELECT merchant_id, date_trunc('day', quarter, 'UTC') AS day, kind, sum(movements) AS movements, sum(units) AS units, sum(brl_centavos) AS brl_centavos
    FROM looked JOIN entry_sums USING (merchant_id)
    WHERE quarter >= date_trunc('day', $1::timestamptz, 'UTC') AND quarter < date_trunc('day', $2::timestamptz, 'UTC') + interval '1 day' GROUP BY 1, 2, 3) AS days
  FULL JOIN (SELECT entry_day_sums.* FROM looked JOIN entry_day_sums USING (merchant_id)
    WHERE day >= date_trunc('day', $1::timestamptz, 'UTC') AND day <= $2::timestamptz) AS kept USING (merchant_id, day, kind)
  WHERE (days.movements, days.units, days.brl_centavos) IS DISTINCT FROM (kept.movements, kept.units, kept.brl_centavos)
  UNION
  SELECT merchant_id FROM looked LEFT JOIN ledgers USING (merchant_id)
  WHERE sequence IS DISTINCT FROM (SELECT max(sequence) FROM entries WHERE entries.merchant_id = looked.merchant_id)`
const WRONG_LATELY = WRONG_SUMS('SELECT DISTINCT merchant_id FROM entry_sums WHERE quarter >= $1')
const WRONG_OF_ONE = WRONG_SUMS('SELECT $3::uuid AS merchant_id')

// Raw SQL: some of a merchant's entries by time, in whole quarters of an hour; of another merchant where there are no more.
const NEXT_SPAN = `
  SELECT merchant_id, start::text AS from, coalesce((
      SELECT greatest(date_bin('15 minutes', at, '2000-01-01T00:00:00Z'), start + interval '15 minutes') FROM entries
      WHERE entries.merchant_id = span.merchant_id AND at >= start ORDER BY at OFFSET $3 LIMIT 1), 'infinity')::text AS until
  FROM (SELECT * FROM (VALUES ($1::uuid, $2::timestamptz)) AS going (merchant_id, start) WHERE start < 'infinity'
    UNION ALL SELECT least((SELECT merchant_id FROM entries WHERE merchant_id > $1 ORDER BY merchant_id LIMIT 1),
      (SELECT merchant_id FROM entry_sums WHERE merchant_id > $1 ORDER BY merchant_id LIMIT 1)), '-infinity'
    LIMIT 1) AS span WHERE merchant_id IS NOT NULL`

// Raw SQL: what decides whether a reader's place is one of this history.
const HISTORY = `
  (SELECT sequence::float8 FROM ledgers WHERE merchant_id = $1) AS newest,
  (SELECT coalesce(json_agg(json_build_object('first', first, 'epoch', epoch) ORDER BY first), '[]') FROM entry_epochs WHERE merchant_id = $1) AS epochs`

// Raw SQL: it waits for the bookings under way, which took these months for open, by the lock that each of them holds.
const CLOSE = `
  WITH open AS (SELECT FROM ledger_close WHERE through < $1), alone AS MATERIALIZED (SELECT pg_advisory_xact_lock(7210418) FROM open)
  UPDATE ledger_close SET through = $1 FROM alone WHERE through < $1`

/** Which of a merchant's entries, after which sequence. */
export type EntrySearch = Omit<ListEntries, 'limit' | 'after'> & {
  after?: number | undefined
  /** The last sequence that is looked at. */
  through?: number | undefined
  /** Only entries that reached or left a payout address; or this one. */
  payout?: true | Pick<PayoutAccount, 'chainId' | 'address'>
}

/** The payout address of an entry that reached or left one. A refund went from that of its order on its network. */
const PAYOUT =
  "lower(CASE kind WHEN 'returned' THEN (SELECT payout_address_on(orders, entries.chain_id) FROM orders WHERE orders.id = order_id) ELSE address END)"

/** Raw SQL: which index answers depends on the filters. */
function conditionsOf(merchantId: string, { after, at_gte, at_lt, kind, order_id, chain_id, through, payout }: EntrySearch) {
  const isRange = at_gte !== undefined || at_lt !== undefined
  const values: unknown[] = [merchantId]
  const given = (value: unknown) => `$${values.push(value)}`
  const conditions = [
    'merchant_id = $1',
    kind && `kind = ${given(kind)}`,
    order_id && `order_id = ${given(order_id)}`,
    chain_id !== undefined && `chain_id = ${given(chain_id)}`,
    at_gte && `at >= ${given(at_gte)}`,
    at_lt && `at < ${given(at_lt)}`,
    through !== undefined && `sequence <= ${given(through)}`,
    payout && "kind IN ('settled', 'direct', 'returned')",
    typeof payout === 'object' && `chain_id = ${given(payout.chainId)} AND ${PAYOUT} = ${given(payout.address)}`,
    after && !isRange && `sequence > ${given(after)}`,
    after &&
      isRange &&
      `(at, sequence) > ((SELECT at FROM entries AS before WHERE before.merchant_id = $1 AND before.sequence = ${given(after)}), $${values.length})`,
  ].filter(condition => typeof condition === 'string')
  return { where: conditions.join(' AND '), order: isRange ? 'at, sequence' : 'sequence', values }
}

function searchOf(merchantId: string, search: EntrySearch, limit: number) {
  const { where, order, values } = conditionsOf(merchantId, search)
  const text = `
    WITH page AS MATERIALIZED (SELECT * FROM entries WHERE ${where} ORDER BY ${order} LIMIT $${values.push(limit)})
    SELECT coalesce((SELECT jsonb_agg(${entries.json('page')}::jsonb || ${BESIDE} ORDER BY ${order}) FROM page), '[]') AS found, ${HISTORY}`
  return { text, values }
}

/** The ledger: written by the database itself with what it is made of (the migration that made `entries`), and read here. */
export function ledgerStore(database: Database) {
  return {
    /** Entries after a sequence, oldest first; within a range of time by the time at which they count. With the history of their numbers, of one moment. */
    async list(merchantId: string, query: EntrySearch, limit: number): Promise<{ rows: Entry[]; history: NumberedHistory }> {
      const { text, values } = searchOf(merchantId, query, limit)
      const { rows } = await database.query<{ found: unknown[]; newest: number | null; epochs: EpochSpan[] }>(text, values)
      const [{ found = [], newest = 0, epochs = [] } = {}] = rows
      return { rows: found.map(parsed), history: { newest: newest ?? 0, epochs } }
    },

    async count(merchantId: string, search: EntrySearch, max: number): Promise<number> {
      const { where, values } = conditionsOf(merchantId, search)
      const text = `SELECT count(*) AS entries FROM (SELECT FROM entries WHERE ${where} LIMIT $${values.push(max)}) AS counted`
      const { rows } = await database.query<{ entries: string }>(text, values)
      return Number(rows[0]?.entries ?? 0)
    },

    async payoutAccounts(merchantId: string, search: EntrySearch): Promise<PayoutAccount[]> {
      const { where, values } = conditionsOf(merchantId, { ...search, payout: true })
      const text = `
        SELECT chain_id, ${PAYOUT} AS address, min(at) AS from, max(at) AS to, sum(CASE kind WHEN 'returned' THEN -units ELSE units END) AS units
        FROM entries WHERE ${where} GROUP BY 1, 2 ORDER BY 1, 2`
      const { rows } = await database.query<{ chain_id: number; address: string; from: Date; to: Date; units: string }>(text, values)
      return rows.map(({ chain_id, address, from, to, units }) => ({ chainId: chain_id, address, from, to, units: BigInt(units) }))
    },

    async newest(merchantId: string): Promise<number> {
      const { rows } = await database.query<{ sequence: string }>('SELECT sequence FROM ledgers WHERE merchant_id = $1', [merchantId])
      return Number(rows[0]?.sequence ?? 0)
    },

    /** Sums by the index of the period in which they count; -1 is all before the first. */
    async sums(merchantId: string, starts: readonly Date[], end: Date): Promise<Map<number, KindSum[]>> {
      const { rows } = await database.query<SumFields>({ name: 'ledger-sums', text: SUMS }, [merchantId, starts, end])
      const found = new Map<number, KindSum[]>()
      for (const row of rows) {
        const sum = {
          kind: entryKind.parse(row.kind),
          movements: Number(row.movements),
          units: BigInt(row.units),
          brlCentavos: BigInt(row.brl),
        }
        found.set(row.period, [...(found.get(row.period) ?? []), sum])
      }
      return found
    },

    /** What the router has moved of each of these orders; none of those of which it has moved nothing. */
    async moved(merchantId: string, orderIds: readonly string[]): Promise<Map<string, Moved>> {
      const { rows } = await database.query<{ order_id: string; fee: string; settled: string }>({ name: 'ledger-moved', text: MOVED }, [
        merchantId,
        orderIds,
      ])
      return new Map(rows.map(({ order_id, fee, settled }) => [order_id, { feeUnits: BigInt(fee), settledUnits: BigInt(settled) }]))
    },

    /** Transactions of these blocks of which the ledger has something else than the books. */
    async unbooked(fromBlock: bigint, toBlock: bigint): Promise<string[]> {
      const { rows } = await database.query<{ tx_hash: string }>({ name: 'ledger-unbooked', text: UNBOOKED }, [fromBlock, toBlock])
      return rows.map(({ tx_hash }) => tx_hash)
    },

    /** The first block from this one on of which there is anything in the books. */
    async nextBlock(from: bigint): Promise<bigint | null> {
      const { rows } = await database.query<{ block: string | null }>({ name: 'ledger-next-block', text: NEXT_BLOCK }, [from])
      return rows[0]?.block ? BigInt(rows[0].block) : null
    },

    /** Merchants whose sums or counter are not what their entries since then come to. */
    async wrongSums(since: Date): Promise<string[]> {
      const { rows } = await database.query<{ merchant_id: string }>({ name: 'ledger-wrong-sums', text: WRONG_LATELY }, [since, 'infinity'])
      return rows.map(({ merchant_id }) => merchant_id)
    },

    /** The span after this one, of so many entries about, by merchant and time; null after the last. */
    async nextSpan(after: LedgerSpan | null, entriesMax: number): Promise<LedgerSpan | null> {
      const values = [after?.merchantId ?? FIRST_ID, after?.until ?? 'infinity', entriesMax]
      const { rows } = await database.query<{ merchant_id: string; from: string; until: string }>(
        { name: 'ledger-next-span', text: NEXT_SPAN },
        values,
      )
      return rows.map(({ merchant_id, from, until }) => ({ merchantId: merchant_id, from, until }))[0] ?? null
    },

    /** Whether the sums of a span, or the merchant's counter, are not what the entries come to. */
    async isWrong({ merchantId, from, until }: LedgerSpan): Promise<boolean> {
      const { rows } = await database.query({ name: 'ledger-wrong-span', text: WRONG_OF_ONE }, [from, until, merchantId])
      return rows.length > 0
    },

    /** Appends what the ledger lacks of these transactions. */
    async book(hashes: readonly string[]): Promise<void> {
      await database.query('SELECT book($1)', [hashes])
    },

    /** The fee of a router, by which money for no order is split. */
    async knowRouter(address: string, feeBps: bigint): Promise<void> {
      await database.query('INSERT INTO routers VALUES (lower($1), $2) ON CONFLICT DO NOTHING', [address, feeBps])
    },

    /** Up to when months are closed; null while none is. */
    async closedThrough(): Promise<Date | null> {
      const { rows } = await database.query<{ through: Date | null }>("SELECT nullif(through, '-infinity') AS through FROM ledger_close")
      return rows[0]?.through ?? null
    },

    /** Closes the months before this moment: what is booked of them from now on counts in the open one. */
    async close(through: Date): Promise<void> {
      await database.query(CLOSE, [through])
    },
  }
}
