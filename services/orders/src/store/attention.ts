import { type AttentionReason, type ListAttention, mismatchReason, NO_MEMO } from '@ponte/contracts'
import { type Database, type Statement, type StoredAnswer, uuidv7Time } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import { type Quotation, readQuotation } from '../order/quotation'
import type { Mark, Seen, UnmatchedMoney } from '../payment/mismatch'
import { type Gap, gapsOf, type PayoutPlace } from '../payment/payout-spans'
import { TO_RETURN } from './left-over'
import { CHAINS_PAID_ON } from './order-list'
import { BLOCKED_REASON } from './order-reads'

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Its index is kept with this very condition. */
const NEEDS_ATTENTION = `(exception IS NOT NULL OR (status IN ('underpaid', 'expired') AND confirmed_units >= 10000))`

/** The merchant's view of an order and of a payment at the mark; their indexes are kept with these very expressions. */
const orderFacts = (table: string) =>
  `(${table}.status || '/' || coalesce(${table}.exception, '') || '/' || ${table}.confirmed_units::text)`
const PAYMENT_FACTS = "(reason || '/' || gross_units::text)"
export const ORDER_FACTS = "(status || '/' || coalesce(exception, '') || '/' || confirmed_units::text)"

type Reason = AttentionReason | undefined
/** The reasons of `reasonsOf` that the order itself has; and those with its address. */
const ofOrder = (reason: Reason): string => {
  if (reason === undefined) return 'true'
  if (reason === 'underpaid') return "(exception IS NULL AND status IN ('underpaid', 'expired') AND confirmed_units > 0)"
  return `exception = '${reason}'`
}
const IS_ON_CHAIN = `($5 IN ${CHAINS_PAID_ON}
  OR EXISTS (SELECT FROM order_networks AS there WHERE there.order_id = orders.id AND there.chain_id = $5 AND there.blocked_reason IS NOT NULL))`
type OrderFilter = Pick<ListAttention, 'reason' | 'chain_id'>
const onChain = ({ chain_id }: OrderFilter): string => (chain_id === undefined ? 'true' : IS_ON_CHAIN)
const ofAddress = (reason: Reason): string => (reason === 'settlement_blocked' ? 'blocked_reason IS NOT NULL' : ofOrder(reason))

const UNHANDLED = (against: string, along: string, filter: OrderFilter = {}) => `
  (SELECT id FROM orders WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) AND ${NEEDS_ATTENTION} AND handled_facts IS DISTINCT FROM ${ORDER_FACTS}
     AND ${ofOrder(filter.reason)} AND ${onChain(filter)} AND id > $2 AND id < $3 ORDER BY merchant_id ${along}, id ${against} LIMIT $4)
  UNION
  (SELECT order_id FROM order_networks AS blocked JOIN orders ON orders.id = order_id
   WHERE blocked.merchant_id = ANY (ARRAY[$1]::uuid[]) AND blocked_reason IS NOT NULL AND order_id > $2 AND order_id < $3
     AND (handled_blocked IS DISTINCT FROM ${BLOCKED_REASON} OR handled_facts IS DISTINCT FROM ${orderFacts('orders')}) AND ${ofAddress(filter.reason)} AND ${onChain(filter)}
   GROUP BY blocked.merchant_id, order_id ORDER BY blocked.merchant_id ${along}, order_id ${against} LIMIT $4)`

const HANDLED = (against: string, along: string, filter: OrderFilter) => `
  SELECT id FROM orders CROSS JOIN LATERAL (SELECT ${BLOCKED_REASON} AS blocked_reason) AS blocked
  WHERE orders.merchant_id = ANY (ARRAY[$1]::uuid[]) AND handled_at IS NOT NULL AND id > $2 AND id < $3
    AND handled_facts = ${orderFacts('orders')} AND (${NEEDS_ATTENTION} OR blocked_reason IS NOT NULL)
    AND (blocked_reason IS NULL OR blocked_reason = handled_blocked) AND ${ofAddress(filter.reason)} AND ${onChain(filter)}
  ORDER BY orders.merchant_id ${along}, id ${against} LIMIT $4`

/** Part of a payment's id within the UUID that names it, behind the time; its index is kept with this very expression. */
const PLACE = `(left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C"`
const placeOf = (id: string): string => id.replaceAll('-', '').slice(13)

/** Raw SQL: each mark with the answer that its request is given again. */
const MARK_ORDER: Statement = {
  name: 'mark-order',
  text: `UPDATE orders SET handled_at = $at, handled_by = $by, handled_facts = $facts, handled_blocked = $blocked, handled_note = $note WHERE id = $id`,
}
const MARK_PAYMENT: Statement = {
  name: 'mark-payment',
  text: `INSERT INTO handled_payments AS handled (merchant_id, payment_id, facts, handled_at, handled_by, note)
    VALUES ($merchant_id, $id, $facts, $at, $by, $note)
    ON CONFLICT (merchant_id, payment_id) DO UPDATE SET facts = $facts, handled_at = $at, handled_by = $by, note = $note`,
}
const UNMARK_PAYMENT: Statement = {
  name: 'unmark-payment',
  text: 'DELETE FROM handled_payments WHERE merchant_id = $merchant_id AND payment_id = $id',
}

interface UnmatchedFields {
  id: string
  reason: string
  kind: 'router' | 'transfer'
  chain_id: number
  token_address: string
  tx_hash: string
  memo: string
  payer_address: string
  merchant_address: string
  block_time: Date
  units: string
  settled: string | null
  facts: string
  handled_at: Date | null
  handled_by: string | null
  note: string | null
}

/** Owner of money without an order. */
export interface Payee {
  merchantId: string
  /** When which payout address was theirs, and on which networks. */
  places: readonly PayoutPlace[]
}

const UNMATCHED_FIELDS = `id, reason, kind, chain_id, token_address, tx_hash, memo, payer_address, merchant_address, block_time,
  coalesce(exact_units, gross_units)::text AS units, (
    SELECT sum(units)::text FROM entries WHERE merchant_id = $1 AND kind = 'settled' AND entries.tx_hash = money.tx_hash AND entries.log_index = money.log_index) AS settled,
  ${PAYMENT_FACTS} AS facts, handled_at, handled_by, note`
/** The mark of this merchant alone, where it was given for the facts of now. */
const MARK = `LEFT JOIN handled_payments AS handled ON handled.merchant_id = $1 AND payment_id = id AND handled.facts = ${PAYMENT_FACTS}`
/** To an address of the merchant, within the time in which it was theirs; plain transfers to it ask for nothing. */
const UNMATCHED = `unmatched_payments AS money ${MARK}
  WHERE lower(merchant_address) = $2 AND block_time >= $3::timestamptz AND block_time < $4::timestamptz AND status = 'confirmed' AND gross_units >= 10000
    AND memo <> '${NO_MEMO}'`
/** Outside of that time it is the merchant's where it names an order that was made with this address. */
const OF_ORDER = `${UNMATCHED} AND EXISTS (SELECT FROM orders AS named WHERE named.memo = money.memo AND named.merchant_id = $1 AND lower(payout_address_on(named, money.chain_id)) = $2)`
/** Swept from an address that no order has: who sent it is not known. Whether it is the merchant's the ledger knows. */
const SWEPT = `(
  SELECT swept.id, 'unknown_memo' AS reason, 'transfer' AS kind, swept.chain_id, swept.token_address, swept.tx_hash, swept.log_index, swept.memo,
    '0x' || repeat('0', 40) AS payer_address, swept.merchant_address, came.block_time, swept.gross_units, NULL::numeric AS exact_units
  FROM entries AS came JOIN sweeps AS swept ON swept.tx_hash = came.tx_hash AND swept.log_index = came.log_index AND swept.block_number = came.block_number
  WHERE came.merchant_id = $1 AND came.kind = 'unmatched' AND came.payer_address IS NULL AND came.reverses IS NULL AND came.units >= 10000 AND swept.status = 'confirmed'
    AND NOT EXISTS (SELECT FROM entries AS taken WHERE taken.merchant_id = $1 AND taken.tx_hash = came.tx_hash AND taken.reverses = came.sequence)) AS money ${MARK}
  WHERE true`
/** Raw SQL: each list has its own statement, which its index answers; there is one for each time the merchant changed the address, and one. */
const sourcesOf = ({ merchantId, places }: Payee) => {
  // An order is watched on networks that it does not offer at the address of another one.
  const addresses = new Set(places.flatMap(({ spans }) => spans.map(({ payoutAddress }) => payoutAddress)))
  return [
    { from: SWEPT, values: [merchantId] },
    ...places
      .flatMap(place => [...place.spans.map(within(UNMATCHED, place)), ...gapsOf(place.spans, addresses).map(within(OF_ORDER, place))])
      .map(({ from, values }) => ({ from, values: [merchantId, ...values] })),
  ]
}
const within =
  (from: string, { chainId, except }: PayoutPlace) =>
  (span: Gap) => {
    const values: unknown[] = [span.payoutAddress.toLowerCase(), span.from ?? '-infinity', span.to ?? 'infinity']
    if (chainId !== null) return { from: `${from} AND chain_id = $5::int`, values: [...values, chainId] }
    return except.length === 0 ? { from, values } : { from: `${from} AND chain_id <> ALL($5::int[])`, values: [...values, except] }
  }

// Raw SQL: a mark holds for the facts that it was given for.
const OTHER_HANDLED = `
  SELECT FROM unmatched_payments AS money ${MARK}
  WHERE memo = $2 AND chain_id = $3 AND id <> $4 AND reason = 'wrong_chain' AND handled_at IS NOT NULL LIMIT 1`

const toMoney = ({ units, settled, facts, handled_at, handled_by, note, reason, block_time, ...row }: UnmatchedFields): UnmatchedMoney => ({
  payment: { ...row, reason: mismatchReason.parse(reason), block_time: block_time.toISOString() },
  grossUnits: BigInt(units),
  settledUnits: settled === null ? null : BigInt(settled),
  facts,
  mark: handled_at && { at: handled_at, by: handled_by, note },
})

/** As a message quotes money that has no order, and so no words. */
function quotes(quotation: Quotation, given: (value: unknown) => string): string {
  if (quotation.kind === 'hash') return `(tx_hash = '0x' || ${given(quotation.hex)}::text OR memo = ${given(quotation.hex)})`
  if (quotation.kind === 'address') return `lower(payer_address) = ${given(quotation.address)}`
  return quotation.kind === 'words'
    ? `coalesce(exact_units, gross_units)::text = ANY(${given(quotation.usdcUnits.map(String))}::text[])`
    : 'false'
}

/** By keyset in either direction. A page costs the same at any depth. */
export function attentionStore(database: Database, prisma: PrismaClient) {
  type Given = (value: unknown) => string
  const moneyOf = async <Row extends object>(payee: Payee, select: string, rest: (given: Given) => string): Promise<Row[]> => {
    const found = await Promise.all(
      sourcesOf(payee).map(async ({ from, values }) => {
        const all: unknown[] = [...values]
        const text = `SELECT ${select} FROM ${from} ${rest(value => `$${all.push(value)}`)}`
        return (await database.query<Row>(text, all)).rows
      }),
    )
    return found.flat()
  }
  return {
    /** Orders whose money does not simply settle, or that have an address that cannot be swept. */
    async orderIds(merchantId: string, query: ListAttention, limit: number): Promise<string[]> {
      if (query.reason === 'unmatched' || query.reason === 'foreign_token' || query.text !== undefined) return []
      const isUp = query.ending_before !== undefined
      const [along, against] = isUp ? ['DESC', 'ASC'] : ['ASC', 'DESC']
      // Raw SQL: two tables as one list. Lists of one keep each to its own index, as in the list of orders.
      const found = query.handled === 'true' ? HANDLED(against, along, query) : UNHANDLED(against, along, query)
      const { rows } = await database.query<{ id: string }>(`SELECT id FROM (${found}) AS found ORDER BY id ${against} LIMIT $4`, [
        ...[merchantId, query.ending_before ?? FIRST_ID, query.starting_after ?? LAST_ID, limit],
        ...(query.chain_id === undefined ? [] : [query.chain_id]),
      ])
      return rows.map(({ id }) => id)
    },

    /** Confirmed payments to the merchant's payout address of their time that count for no order, from a cent on. */
    async unmatched(payee: Payee, query: ListAttention, limit: number): Promise<UnmatchedMoney[]> {
      if (query.reason !== undefined && query.reason !== 'unmatched') return []
      const cursor = query.ending_before ?? query.starting_after
      const [beyond, against] = query.ending_before === undefined ? ['<', 'DESC'] : ['>', 'ASC']
      const isAny = query.text !== undefined && query.handled === undefined
      const marked = isAny ? 'true' : query.handled === 'true' ? 'handled_at IS NOT NULL' : 'handled_at IS NULL'
      // Ordered by an expression. The time is named by itself for the index that has no more.
      const rows = await moneyOf<UnmatchedFields>(payee, UNMATCHED_FIELDS, given => {
        const time = cursor === undefined ? '' : `${given(uuidv7Time(cursor))}::timestamptz`
        const after =
          cursor === undefined
            ? ''
            : `AND block_time ${beyond}= ${time} AND (block_time, ${PLACE}) ${beyond} (${time}, ${given(placeOf(cursor))})`
        const asked = query.text === undefined ? '' : `AND ${quotes(readQuotation(query.text), given)}`
        const there = query.chain_id === undefined ? '' : `AND chain_id = ${given(query.chain_id)}`
        return `AND ${marked} ${asked} ${there} ${after} ORDER BY block_time ${against}, ${PLACE} ${against} LIMIT ${given(limit)}`
      })
      return rows.map(toMoney)
    },

    /** Whether other money of this memo on this chain, which its order did not offer, is marked as handled. */
    async isOtherHandled(merchantId: string, { id, memo, chainId }: { id: string; memo: string; chainId: number }): Promise<boolean> {
      const { rowCount } = await database.query({ name: 'attention-other-handled', text: OTHER_HANDLED }, [merchantId, memo, chainId, id])
      return rowCount !== 0
    },

    /** The money to the merchant's payout address whose place in the list has this id. */
    async findUnmatched(payee: Payee, itemId: string): Promise<UnmatchedMoney | null> {
      const rows = await moneyOf<UnmatchedFields>(
        payee,
        UNMATCHED_FIELDS,
        given => `AND block_time = ${given(uuidv7Time(itemId))}::timestamptz AND ${PLACE} = ${given(placeOf(itemId))}`,
      )
      return rows.map(toMoney)[0] ?? null
    },

    /** What no order takes of all that the list shows as not handled. */
    async leftOverUnits(payee: Payee): Promise<bigint> {
      const ofOrders = `SELECT coalesce(sum(${TO_RETURN}), 0)::text AS units FROM orders WHERE id IN (${UNHANDLED('DESC', 'ASC')})`
      const [orders, money] = await Promise.all([
        database.query<{ units: string }>(ofOrders, [payee.merchantId, FIRST_ID, LAST_ID, null]),
        moneyOf<{ units: string }>(
          payee,
          'coalesce(sum(coalesce(exact_units, gross_units)), 0)::text AS units',
          () => 'AND handled_at IS NULL',
        ),
      ])
      return [...orders.rows, ...money].reduce((total, { units }) => total + BigInt(units), 0n)
    },

    /** Marks of those orders that have one. */
    async marks(orderIds: readonly string[]): Promise<Map<string, Mark>> {
      const rows = await prisma.order.findMany({
        where: { id: { in: [...orderIds] }, handledAt: { not: null } },
        select: { id: true, handledAt: true, handledBy: true, handledNote: true },
      })
      return new Map(
        rows.flatMap(({ id, handledAt, handledBy: by, handledNote: note }) => (handledAt ? [[id, { at: handledAt, by, note }]] : [])),
      )
    },

    /** Marks an order with what was seen of it, or takes the mark away. Facts that are others by now leave it in the list. */
    async markOrder(id: string, mark: (Mark & Seen) | null, answers: StoredAnswer[]): Promise<void> {
      const { at = null, by = null, note = null, facts = null, blocked = null } = mark ?? {}
      const values = { id, at, by, note, facts, blocked }
      await database.commit({ write: MARK_ORDER, values, answers })
    },

    async markPayment(merchantId: string, id: string, mark: (Mark & Seen) | null, answers: StoredAnswer[]): Promise<void> {
      const one = { merchant_id: merchantId, id }
      const values = mark === null ? one : { ...one, facts: mark.facts, at: mark.at, by: mark.by, note: mark.note }
      await database.commit({ write: mark === null ? UNMARK_PAYMENT : MARK_PAYMENT, values, answers })
    },
  }
}
