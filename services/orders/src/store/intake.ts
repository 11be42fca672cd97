import { type ChainBlocks, type MismatchReason, NO_MEMO } from '@ponte/contracts'
import {
  type Database,
  insertRows,
  type OutboxRow,
  type Statement,
  type StoredAnswer,
  type Unit,
  updateVersioned,
} from '@ponte/service-kit'
import type { Attachment } from '../order/attachment'
import type { Change, Known, Ledger } from '../order/order'
import type { Payment, Stated } from '../payment/payment'
import { CURSOR_CTE, cursorValues } from './chain'
import { LEDGER_FACTS, type LedgerFields, toFacts } from './order-reads'
import { attachments, orderChanges, orders, payments, sweeps, type Unmatched, unmatchedPayments } from './rows'
import { isOlder, takeNewer } from './stated'

// Raw SQL below: what is asked has the shape of an event, with lists and ranges of several tables, and each part has an index of its own.
const RELATED = `
  WHERE id = ANY($1) OR block_hash = ANY($2) OR (status = 'detected' AND block_number BETWEEN $3 AND $4)`
const IS_ATTACHED = 'EXISTS (SELECT FROM attachments WHERE payment_id = payments.id)'
const PAYMENTS = `SELECT ${payments.select()}, ${IS_ATTACHED} AS is_attached FROM payments ${RELATED} OR (status = 'detected' AND order_id = ANY($5::uuid[]))`
const ALL_PAYMENTS = `SELECT ${payments.select()} FROM payments WHERE order_id = ANY($1::uuid[])`
const UNMATCHED = `SELECT ${unmatchedPayments.select()} FROM unmatched_payments ${RELATED}`
const ORDERS = `
  SELECT ${orders.select()}, ${LEDGER_FACTS} FROM orders
  WHERE orders.id IN (SELECT id FROM orders WHERE memo = ANY($1) UNION SELECT unnest($2::uuid[]))`
const CURSOR = `
  SELECT known.version, known.generation,
    ARRAY(SELECT block::text FROM (
      SELECT unnest($2::bigint[]) AS block UNION SELECT block_number FROM payments WHERE status = 'detected' AND order_id = ANY($4::uuid[])) AS asked
      WHERE known.advanced @> block) AS confirmed_blocks,
    coalesce((SELECT json_object_agg(block_hash, json_build_object('generation', gone.generation, 'version', gone.version))
      FROM gone_blocks AS gone WHERE gone.chain_id = known.chain_id AND gone.block_hash = ANY($3)), '{}') AS gone
  FROM chain_cursors AS known WHERE known.chain_id = $1`

// Rows of the release before have no block hash: what is reported at their place of the chain is the same money, and takes them over.
const NAMED =
  'unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[]) AS named (id, block_hash, tx_hash, log_index, block_number)'
const AT_PLACE = (table: string) =>
  `${table}.block_hash IS NULL AND ${table}.tx_hash = named.tx_hash AND ${table}.log_index = named.log_index AND ${table}.block_number = named.block_number`
const HAS_OLD = `SELECT ${['payments', 'unmatched_payments', 'sweeps'].map(table => `EXISTS (SELECT FROM ${table} WHERE block_hash IS NULL)`).join(' OR ')} AS is_old`
const TAKE_OVER = `
  WITH paid AS (UPDATE payments SET id = named.id, block_hash = named.block_hash FROM ${NAMED} WHERE ${AT_PLACE('payments')}),
  swept AS (UPDATE sweeps SET id = named.id, block_hash = named.block_hash FROM ${NAMED} WHERE ${AT_PLACE('sweeps')}),
  handled AS (
    UPDATE handled_payments SET payment_id = named.id FROM unmatched_payments AS unmatched, ${NAMED}
    WHERE payment_id = unmatched.id AND ${AT_PLACE('unmatched')})
  UPDATE unmatched_payments SET id = named.id, block_hash = named.block_hash FROM ${NAMED} WHERE ${AT_PLACE('unmatched_payments')}`

/** As the rules decide without a newer version: a first confirmation, and the end of what a late answer does not name. */
const isDecided = ({ name }: { name: string }) =>
  `(${name}.status = 'detected' AND ${name}.generation = EXCLUDED.generation
    AND (EXCLUDED.status = 'confirmed' OR EXCLUDED.status = 'orphaned' AND ${name}.version = EXCLUDED.version))`
const MONEY_CTE = `
  paid AS (${insertRows('payments', payments.columns)} ${takeNewer(payments, isDecided(payments))}),
  matched AS (DELETE FROM unmatched_payments AS unmatched USING json_populate_recordset(NULL::payments, $payments) AS incoming WHERE unmatched.id = incoming.id),
  unmatched AS (${insertRows('unmatched_payments', unmatchedPayments.columns)} ${takeNewer(unmatchedPayments, isDecided(unmatchedPayments))})`
// One statement: an event is taken in with all that it makes of orders, or not at all.
const TAKE_IN: Statement = {
  name: 'intake',
  text: `
  WITH ${CURSOR_CTE}, ${MONEY_CTE},
  swept AS (${insertRows('sweeps', sweeps.columns)} ${takeNewer(sweeps)}),
  unswept AS (
    UPDATE sweeps SET status = 'orphaned', generation = $generation::uuid, version = $version::int
    FROM (SELECT $generation::uuid AS generation, $version::int AS version) AS stated WHERE block_hash = ANY($gone) AND ${isOlder('sweeps', 'stated')})
  ${updateVersioned('orders', orderChanges)}`,
}
// Of an event about no money, as most are: what is planned for money takes PostgreSQL longer than all else.
const FOLLOW: Statement = { name: 'intake-follow', text: `WITH ${CURSOR_CTE} SELECT` }
// The same of some of an event's orders, while another of them cannot be taken in, and of what a merchant counts for an order.
const TAKE_IN_PART: Statement = {
  name: 'intake-part',
  text: `
  WITH moved AS (
    UPDATE chain_cursors SET version = CASE WHEN version = $cursor_version::int THEN version + 1 END WHERE chain_id = $chain_id::int),
  attached AS (${insertRows('attachments', attachments.columns)}),
  ${MONEY_CTE}
  ${updateVersioned('orders', orderChanges)}`,
}
/** As its index has it. What went to a payout address without a router has no memo, and anyone can send any number of it. */
const IS_CLAIMABLE = `unmatched.reason IN ('unknown_memo', 'wrong_chain') AND unmatched.memo <> '${NO_MEMO}'`
/** Money that came before its order was known, or before that offered the network. */
const EARLY = `unmatched_payments AS unmatched JOIN orders USING (memo)
  WHERE ${IS_CLAIMABLE} AND (unmatched.reason = 'unknown_memo' OR (unmatched.reason = 'wrong_chain'
    AND orders.networks @> jsonb_build_array(jsonb_build_object('chainId', unmatched.chain_id, 'isOffered', true))))`
const CLAIMABLE = `SELECT DISTINCT unmatched.memo FROM ${EARLY} LIMIT $1`
/** Claimed at once; the rest of it a minute later. */
const EARLY_MAX = 500
/** The largest first: anyone can send as many of nothing as they like. */
const largest = (of: string) => `SELECT ${unmatchedPayments.select()} FROM unmatched_payments
  WHERE id IN (SELECT unmatched.id FROM ${of} AND memo = $1) ORDER BY gross_units DESC, id LIMIT ${EARLY_MAX}`
const EARLY_OF_MEMO: Statement = { name: 'intake-early', text: largest(EARLY) }
const BESIDE_ON_CHAIN: Statement = {
  name: 'intake-beside',
  text: largest("unmatched_payments AS unmatched WHERE reason = 'wrong_chain' AND chain_id = $2 AND id <> $3"),
}
// Raw SQL: many at once, each with its own.
const SET_REASONS = `
  UPDATE unmatched_payments AS unmatched SET reason = named.reason FROM unnest($1::text[], $2::text[]) AS named (id, reason) WHERE unmatched.id = named.id`

/** The chain as it was known when an event was decided; its version decides which of two events is first. */
export interface Cursor {
  chainId: number
  version: number
  generation: string | null
  /** Of the blocks asked about, those that a confirmed range holds. */
  confirmedBlocks: ReadonlySet<bigint>
  gone: ReadonlyMap<string, Stated>
}

/** An order with the payments of it that an event may change. */
export type IntakeLedger = Ledger &
  Known & {
    /** Chains on which it is watched. */
    watchedOn: readonly number[]
  }

export interface Taken {
  changes: readonly Change[]
  payments: readonly (Payment & { orderId: string })[]
  unmatched: readonly Unmatched[]
  events: readonly OutboxRow[]
}

export function intakeStore(database: Database, committed: (change: Change) => void) {
  let hasOldRows = true
  const rowsOf = ({ changes, payments: paid, unmatched }: Taken) => ({
    // In one order everywhere, so that two replicas that write the same orders wait for each other and not in a circle.
    orders: changes.map(({ order }) => orders.record(order)).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)),
    payments: paid.map(payments.record),
    unmatched_payments: unmatched.map(unmatchedPayments.record),
  })
  const partOf = (cursor: Cursor, taken: Taken, attached: readonly Attachment[] = []): Unit => ({
    events: taken.events,
    write: TAKE_IN_PART,
    rows: { ...rowsOf(taken), attachments: attached.map(attachments.record) },
    values: { chain_id: cursor.chainId, cursor_version: cursor.version },
  })
  const groupByOrder = (rows: readonly unknown[]) => {
    const found = new Map<string, Payment[]>()
    for (const row of rows) {
      const { orderId, ...payment } = payments.parse(row)
      const list = found.get(orderId)
      if (list) list.push(payment)
      else found.set(orderId, [payment])
    }
    return found
  }

  return {
    /** Gives rows of the release before the identity under which the listener reports them now. */
    async takeOver(named: readonly Omit<Payment, 'kind' | 'status'>[]): Promise<void> {
      if (!hasOldRows || named.length === 0) return
      const { rows } = await database.query<{ is_old: boolean }>(HAS_OLD)
      hasOldRows = rows[0]?.is_old === true
      if (!hasOldRows) return
      const columns = [named.map(p => p.id), named.map(p => p.blockHash), named.map(p => p.txHash), named.map(p => p.logIndex)]
      await database.query(TAKE_OVER, [...columns, named.map(p => p.blockNumber)])
    },

    /** Where the chain is known to be, also about what was seen of orders that are watched from now on. */
    async cursor(
      chainId: number,
      blocks: readonly bigint[],
      hashes: readonly string[],
      watched: readonly string[] = [],
    ): Promise<Cursor | null> {
      const { rows } = await database.query<{
        version: number
        generation: string | null
        confirmed_blocks: string[]
        gone: Record<string, Stated>
      }>({ name: 'intake-cursor', text: CURSOR }, [chainId, blocks, hashes, watched])
      const [row] = rows
      if (!row) return null
      return {
        chainId,
        version: row.version,
        generation: row.generation,
        confirmedBlocks: new Set(row.confirmed_blocks.map(BigInt)),
        gone: new Map(Object.entries(row.gone)),
      }
    },

    /**
     * Rows that an event is about; of orders that are watched from now on, those of which something is still to be confirmed. Three statements: the cursor's
     * version reveals that another event was taken in between.
     */
    async related(query: {
      ids: readonly string[]
      memos: readonly string[]
      watched?: readonly string[]
      orders?: readonly string[]
      gone?: readonly string[]
      range?: { from: number; to: number } | null
    }): Promise<{ ledgers: IntakeLedger[]; unmatched: Unmatched[]; attached: ReadonlySet<string> }> {
      const related = [query.ids, query.gone ?? [], query.range?.from ?? null, query.range?.to ?? null]
      const isAboutMoney = query.ids.length > 0 || (query.gone ?? []).length > 0 || (query.range ?? null) !== null
      const [paid, unmatched] = await Promise.all([
        database.query<{ id: string; is_attached: boolean }>({ name: 'intake-payments', text: PAYMENTS }, [
          ...related,
          query.watched ?? [],
        ]),
        isAboutMoney ? database.query({ name: 'intake-unmatched', text: UNMATCHED }, related) : { rows: [] },
      ])
      const known = groupByOrder(paid.rows)
      const orderIds = [...known.keys(), ...(query.orders ?? [])]
      const { rows } =
        query.memos.length + orderIds.length === 0
          ? { rows: [] }
          : await database.query<LedgerFields>({ name: 'intake-orders', text: ORDERS }, [query.memos, orderIds])
      const ledgers = rows.map(row => {
        const facts = toFacts(row)
        return { ...facts, watchedOn: row.watched_on, payments: known.get(facts.order.id) ?? [], isAll: false }
      })
      const attached = new Set(paid.rows.filter(({ is_attached }) => is_attached).map(({ id }) => id))
      return { ledgers, unmatched: unmatched.rows.map(unmatchedPayments.parse), attached }
    },

    async withAllPayments(ledgers: readonly IntakeLedger[]): Promise<IntakeLedger[]> {
      if (ledgers.length === 0) return []
      const { rows } = await database.query({ name: 'intake-all', text: ALL_PAYMENTS }, [ledgers.map(({ order }) => order.id)])
      const known = groupByOrder(rows)
      return ledgers.map(ledger => ({ ...ledger, payments: known.get(ledger.order.id) ?? [], isAll: true }))
    },

    async early(memo: string): Promise<Unmatched[]> {
      return (await database.query(EARLY_OF_MEMO, [memo])).rows.map(unmatchedPayments.parse)
    },

    /** Other money for an order on a network that it does not offer. */
    async besideOnChain({ memo, chainId, id }: Unmatched): Promise<Unmatched[]> {
      return (await database.query(BESIDE_ON_CHAIN, [memo, chainId, id])).rows.map(unmatchedPayments.parse)
    },

    async setReasons(reasons: ReadonlyMap<string, MismatchReason>): Promise<void> {
      if (reasons.size > 0) await database.query(SET_REASONS, [[...reasons.keys()], [...reasons.values()]])
    },

    /** Memos of unmatched payments whose order exists by now. */
    async claimable(limit: number): Promise<string[]> {
      return (await database.query<{ memo: string }>(CLAIMABLE, [limit])).rows.map(row => row.memo)
    },

    /** Writes an event with all that it makes of orders. Throws an error that `isStale` knows when an order moved on, or another event was first. */
    async commit(blocks: ChainBlocks, cursor: Cursor, taken: Taken, swept: readonly object[], eventId: string): Promise<void> {
      const rows = { ...rowsOf(taken), sweeps: swept.map(sweeps.record) }
      const isAboutMoney = blocks.gone.length > 0 || Object.values(rows).some(({ length }) => length > 0)
      await database.commit({
        ...{ inbox: [eventId], events: taken.events, values: cursorValues(blocks, cursor) },
        ...(isAboutMoney ? { write: TAKE_IN, rows } : { write: FOLLOW }),
      })
      taken.changes.forEach(committed)
    },

    /** Some of what an event makes of orders. */
    async commitPart(cursor: Cursor, taken: Taken): Promise<void> {
      await database.commit(partOf(cursor, taken))
      taken.changes.forEach(committed)
    },

    /** Money that a merchant counts for an order, to be written. */
    attachedUnit: (cursor: Cursor, taken: Taken, attachment: Attachment, answers: StoredAnswer[]): Unit => ({
      ...partOf(cursor, taken, [attachment]),
      answers,
    }),
  }
}
