import { type ListAttention, mismatchReason } from '@ponte/contracts'
import { type Database, uuidv7Time } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { Mark, Seen, UnmatchedMoney } from '../payment'

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Its index is kept with this very condition. */
const NEEDS_ATTENTION = `(exception IS NOT NULL OR (status IN ('underpaid', 'expired') AND confirmed_units >= 10000))`

/** What a merchant has seen of an order and of a payment when it was marked as handled; their indexes are kept with these very expressions. */
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

/** What of a payment's id stands in the UUID that names it, behind the time; its index is kept with this very expression. */
const PLACE = `(left(md5(id), 3) || '8' || substr(md5(id), 4, 15)) COLLATE "C"`
const placeOf = (id: string): string => id.replaceAll('-', '').slice(13)

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

/** Whose money without an order is asked for. */
export interface Payee {
  merchantId: string
  payoutAddress: string
}

const UNMATCHED_FIELDS = `id, reason, kind, chain_id, token_address, tx_hash, memo, payer_address, merchant_address, block_time,
  coalesce(exact_units, gross_units)::text AS units, ${PAYMENT_FACTS} AS facts, handled_at, handled_by`
/** With the mark of this merchant alone, where it was given for the facts of now. */
const UNMATCHED = `unmatched_payments LEFT JOIN handled_payments AS handled
  ON handled.merchant_id = $2 AND payment_id = id AND facts = ${PAYMENT_FACTS}
  WHERE lower(merchant_address) = $1 AND status = 'confirmed' AND gross_units >= 10000`

const toMoney = ({ units, facts, handled_at, handled_by, reason, block_time, ...row }: UnmatchedFields): UnmatchedMoney => ({
  payment: { ...row, reason: mismatchReason.parse(reason), block_time: block_time.toISOString() },
  grossUnits: BigInt(units),
  facts,
  mark: handled_at && { at: handled_at, by: handled_by },
})

/** What does not simply settle, by keyset in either direction. A page costs the same at any depth. */
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

    /** Confirmed payments to this payout address that count for no order, from a cent on. */
    async unmatched({ merchantId, payoutAddress }: Payee, query: ListAttention, limit: number): Promise<UnmatchedMoney[]> {
      const cursor = query.ending_before ?? query.starting_after
      const [beyond, against] = query.ending_before === undefined ? ['<', 'DESC'] : ['>', 'ASC']
      const values: unknown[] = [payoutAddress.toLowerCase(), merchantId, limit]
      if (cursor !== undefined) values.push(uuidv7Time(cursor), placeOf(cursor))
      const after = cursor === undefined ? '' : `AND (block_time, ${PLACE}) ${beyond} ($4::timestamptz, $5)`
      const marked = query.handled === 'true' ? 'handled_at IS NOT NULL' : 'handled_at IS NULL'
      // Raw SQL: ordered by an expression.
      const { rows } = await database.query<UnmatchedFields>(
        `SELECT ${UNMATCHED_FIELDS} FROM ${UNMATCHED} AND ${marked} ${after} ORDER BY block_time ${against}, ${PLACE} ${against} LIMIT $3`,
        values,
      )
      return rows.map(toMoney)
    },

    /** The payment to this payout address whose place in the list has this id. */
    async findUnmatched({ merchantId, payoutAddress }: Payee, itemId: string): Promise<UnmatchedMoney | null> {
      // Raw SQL: found by an expression.
      const { rows } = await database.query<UnmatchedFields>(
        `SELECT ${UNMATCHED_FIELDS} FROM ${UNMATCHED} AND block_time = $3::timestamptz AND ${PLACE} = $4`,
        [payoutAddress.toLowerCase(), merchantId, uuidv7Time(itemId), placeOf(itemId)],
      )
      return rows[0] ? toMoney(rows[0]) : null
    },

    /** Who has handled these orders and when; those that were. */
    async marks(orderIds: readonly string[]): Promise<Map<string, Mark>> {
      const rows = await prisma.order.findMany({
        where: { id: { in: [...orderIds] }, handledAt: { not: null } },
        select: { id: true, handledAt: true, handledBy: true },
      })
      return new Map(rows.flatMap(({ id, handledAt, handledBy }) => (handledAt ? [[id, { at: handledAt, by: handledBy }]] : [])))
    },

    /** Marks an order with what was seen of it, or takes the mark away. Facts that are others by now leave it in the list. */
    async markOrder(id: string, mark: (Mark & Seen) | null): Promise<void> {
      const data = { handledAt: mark?.at ?? null, handledBy: mark?.by ?? null, handledFacts: mark?.facts ?? null }
      await prisma.order.update({ where: { id }, data: { ...data, handledBlocked: mark?.blocked ?? null } })
    },

    async markPayment(merchantId: string, paymentId: string, mark: (Mark & Seen) | null): Promise<void> {
      if (mark === null) return void (await prisma.handledPayment.deleteMany({ where: { merchantId, paymentId } }))
      const data = { facts: mark.facts, handledAt: mark.at, handledBy: mark.by }
      const where = { merchantId_paymentId: { merchantId, paymentId } }
      await prisma.handledPayment.upsert({ where, create: { merchantId, paymentId, ...data }, update: data })
    },
  }
}
