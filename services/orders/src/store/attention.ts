import { type ListAttention, mismatchReason } from '@ponte/contracts'
import { type Database, type Statement, type StoredAnswer, uuidv7Time } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Mark, Seen, UnmatchedMoney } from '../payment/mismatch'
import type { PayoutSpan } from '../payment/payout-spans'

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Its index is kept with this very condition. */
const NEEDS_ATTENTION = `(exception IS NOT NULL OR (status IN ('underpaid', 'expired') AND confirmed_units >= 10000))`

/** The merchant's view of an order and of a payment at the mark; their indexes are kept with these very expressions. */
const orderFacts = (table: string) =>
  `(${table}.status || '/' || coalesce(${table}.exception, '') || '/' || ${table}.confirmed_units::text)`
const PAYMENT_FACTS = "(reason || '/' || gross_units::text)"
const ORDER_FACTS = "(status || '/' || coalesce(exception, '') || '/' || confirmed_units::text)"

const UNHANDLED = (against: string, along: string) => `
  (SELECT id FROM orders WHERE merchant_id = ANY (ARRAY[$1]::uuid[]) AND ${NEEDS_ATTENTION} AND handled_facts IS DISTINCT FROM ${ORDER_FACTS}
     AND id > $2 AND id < $3 ORDER BY merchant_id ${along}, id ${against} LIMIT $4)
  UNION
  (SELECT order_id FROM deposit_states AS deposits JOIN orders ON orders.id = order_id
   WHERE deposits.merchant_id = ANY (ARRAY[$1]::uuid[]) AND blocked_reason IS NOT NULL AND order_id > $2 AND order_id < $3
     AND (handled_blocked IS DISTINCT FROM blocked_reason OR handled_facts IS DISTINCT FROM ${orderFacts('orders')})
   ORDER BY deposits.merchant_id ${along}, order_id ${against} LIMIT $4)`

const HANDLED = (against: string, along: string) => `
  SELECT id FROM orders LEFT JOIN deposit_states AS deposits ON order_id = id
  WHERE orders.merchant_id = ANY (ARRAY[$1]::uuid[]) AND handled_at IS NOT NULL AND id > $2 AND id < $3
    AND handled_facts = ${orderFacts('orders')} AND (${NEEDS_ATTENTION} OR blocked_reason IS NOT NULL)
    AND (blocked_reason IS NULL OR blocked_reason = handled_blocked)
  ORDER BY orders.merchant_id ${along}, id ${against} LIMIT $4`

/** Part of a payment's id within the UUID that names it, behind the time; its index is kept with this very expression. */
const PLACE = `(left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C"`
const placeOf = (id: string): string => id.replaceAll('-', '').slice(13)

/** Raw SQL: each mark with the answer that its request is given again. */
const MARK_ORDER: Statement = {
  name: 'mark-order',
  text: `UPDATE orders SET handled_at = $at, handled_by = $by, handled_facts = $facts, handled_blocked = $blocked WHERE id = $id`,
}
const MARK_PAYMENT: Statement = {
  name: 'mark-payment',
  text: `INSERT INTO handled_payments AS handled (merchant_id, payment_id, facts, handled_at, handled_by)
    VALUES ($merchant_id, $id, $facts, $at, $by)
    ON CONFLICT (merchant_id, payment_id) DO UPDATE SET facts = $facts, handled_at = $at, handled_by = $by`,
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
  facts: string
  handled_at: Date | null
  handled_by: string | null
}

/** Owner of money without an order. */
export interface Payee {
  merchantId: string
  /** When which payout address was theirs. */
  spans: readonly PayoutSpan[]
}

const UNMATCHED_FIELDS = `id, reason, kind, chain_id, token_address, tx_hash, memo, payer_address, merchant_address, block_time,
  coalesce(exact_units, gross_units)::text AS units, ${PAYMENT_FACTS} AS facts, handled_at, handled_by`
/** With the mark of this merchant alone, where it was given for the facts of now. */
const UNMATCHED = `unmatched_payments LEFT JOIN handled_payments AS handled
  ON handled.merchant_id = $2 AND payment_id = id AND facts = ${PAYMENT_FACTS}
  WHERE lower(merchant_address) = $1 AND status = 'confirmed' AND gross_units >= 10000`
/** Within the time in which the address was the merchant's. */
const IN_SPAN = 'AND block_time >= $4::timestamptz AND block_time < $5::timestamptz'
const spanValues = ({ payoutAddress, from, to }: PayoutSpan) => ({ address: payoutAddress.toLowerCase(), from, to: to ?? 'infinity' })

const toMoney = ({ units, facts, handled_at, handled_by, reason, block_time, ...row }: UnmatchedFields): UnmatchedMoney => ({
  payment: { ...row, reason: mismatchReason.parse(reason), block_time: block_time.toISOString() },
  grossUnits: BigInt(units),
  facts,
  mark: handled_at && { at: handled_at, by: handled_by },
})

/** By keyset in either direction. A page costs the same at any depth. */
export function attentionStore(database: Database, prisma: PrismaClient) {
  return {
    /** Orders whose money does not simply settle, or that have an address that cannot be swept. */
    async orderIds(merchantId: string, query: ListAttention, limit: number): Promise<string[]> {
      const isUp = query.ending_before !== undefined
      const [along, against] = isUp ? ['DESC', 'ASC'] : ['ASC', 'DESC']
      // Raw SQL: two tables as one list. Lists of one keep each to its own index, as in the list of orders.
      const found = query.handled === 'true' ? HANDLED(against, along) : UNHANDLED(against, along)
      const { rows } = await database.query<{ id: string }>(`SELECT id FROM (${found}) AS found ORDER BY id ${against} LIMIT $4`, [
        ...[merchantId, query.ending_before ?? FIRST_ID, query.starting_after ?? LAST_ID, limit],
      ])
      return rows.map(({ id }) => id)
    },

    /** Confirmed payments to the merchant's payout address of their time that count for no order, from a cent on. */
    async unmatched({ merchantId, spans }: Payee, query: ListAttention, limit: number): Promise<UnmatchedMoney[]> {
      const cursor = query.ending_before ?? query.starting_after
      const [beyond, against] = query.ending_before === undefined ? ['<', 'DESC'] : ['>', 'ASC']
      const after = cursor === undefined ? '' : `AND (block_time, ${PLACE}) ${beyond} ($6::timestamptz, $7)`
      const marked = query.handled === 'true' ? 'handled_at IS NOT NULL' : 'handled_at IS NULL'
      // Raw SQL: ordered by an expression. Each span has its own statement, which its index answers; there are as many as the merchant changed the address.
      const text = `SELECT ${UNMATCHED_FIELDS} FROM ${UNMATCHED} ${IN_SPAN} AND ${marked} ${after} ORDER BY block_time ${against}, ${PLACE} ${against} LIMIT $3`
      const place = cursor === undefined ? [] : [uuidv7Time(cursor), placeOf(cursor)]
      const found = await Promise.all(
        spans.map(async span => {
          const { address, from, to } = spanValues(span)
          return (await database.query<UnmatchedFields>(text, [address, merchantId, limit, from, to, ...place])).rows
        }),
      )
      return found.flat().map(toMoney)
    },

    /** The payment to the merchant's payout address whose place in the list has this id. */
    async findUnmatched({ merchantId, spans }: Payee, itemId: string): Promise<UnmatchedMoney | null> {
      // Raw SQL: found by an expression.
      const text = `SELECT ${UNMATCHED_FIELDS} FROM ${UNMATCHED} AND block_time = $3::timestamptz ${IN_SPAN} AND ${PLACE} = $6`
      for (const span of spans) {
        const { address, from, to } = spanValues(span)
        const values = [address, merchantId, uuidv7Time(itemId), from, to, placeOf(itemId)]
        const [row] = (await database.query<UnmatchedFields>(text, values)).rows
        if (row) return toMoney(row)
      }
      return null
    },

    /** Marks of those orders that have one. */
    async marks(orderIds: readonly string[]): Promise<Map<string, Mark>> {
      const rows = await prisma.order.findMany({
        where: { id: { in: [...orderIds] }, handledAt: { not: null } },
        select: { id: true, handledAt: true, handledBy: true },
      })
      return new Map(rows.flatMap(({ id, handledAt, handledBy }) => (handledAt ? [[id, { at: handledAt, by: handledBy }]] : [])))
    },

    /** Marks an order with what was seen of it, or takes the mark away. Facts that are others by now leave it in the list. */
    async markOrder(id: string, mark: (Mark & Seen) | null, answers: StoredAnswer[]): Promise<void> {
      const values = { id, at: mark?.at ?? null, by: mark?.by ?? null, facts: mark?.facts ?? null, blocked: mark?.blocked ?? null }
      await database.commit({ write: MARK_ORDER, values, answers })
    },

    async markPayment(merchantId: string, id: string, mark: (Mark & Seen) | null, answers: StoredAnswer[]): Promise<void> {
      const one = { merchant_id: merchantId, id }
      const values = mark === null ? one : { ...one, facts: mark.facts, at: mark.at, by: mark.by }
      await database.commit({ write: mark === null ? UNMARK_PAYMENT : MARK_PAYMENT, values, answers })
    },
  }
}
