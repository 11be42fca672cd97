import { CENT } from '@ponte/contracts'
import { type Database, groupCommit } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import type { ChainView, Ledger, OrderHistory } from '../order'
import { type Payment, paymentKind, paymentStatus } from '../payment'
import { type AuthorizationFields, authorizationJson, toAuthorization } from './authorizations'
import { fromFields, type OrderFields, orderFields, type PaymentFields, paymentJson, sweepJson, toPayment, toSweep } from './order-row'

// Handled meanwhile, it is in the inbox.
const IS_HELD = `EXISTS (SELECT 1 FROM parked_events AS parked WHERE parked.memo = orders.memo
    AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.event_id = parked.event_id))`
// Raw SQL because it is one statement: a payment could come in between two.
const LEDGERS = `
  SELECT ${orderFields}, deposit.synced_sequence, ${IS_HELD} AS is_held, coalesce((
    SELECT json_agg(${paymentJson} ORDER BY p.block_number, p.id) FROM payments p WHERE p.order_id = orders.id), '[]') AS payments
  FROM orders LEFT JOIN deposit_states AS deposit ON deposit.order_id = orders.id`

// An address follows from router, memo and merchant; only what left the order's own is its sweep. Anyone can sweep the same memo for another merchant.
const OWN_SWEEPS = `sweeps s WHERE s.memo = orders.memo AND s.status = 'confirmed' AND s.chain_id = orders.chain_id
  AND lower(s.router_address) = lower(orders.router_address) AND lower(s.token_address) = lower(orders.token_address)
  AND lower(s.merchant_address) = lower(orders.merchant_address)`

const MOVED =
  'tx_hash, block_number, block_time, log_index, sum(gross_units) OVER (ORDER BY block_time, block_number, log_index, id) AS total'
// The sweeps by which transfers were settled, each with all that was swept since the one before: anyone can sweep an address as often as they pay it, and what
// is read of them is no more than the order has transfers. One that settles stands behind a transfer in the order of the sums.
const SETTLING_SWEEPS = `(
  SELECT settling.*, total - coalesce(lag(total) OVER (ORDER BY total), 0) AS gross_units
  FROM (
    SELECT moved.*, lag(id IS NULL) OVER (ORDER BY total, id NULLS FIRST) AS settles
    FROM (
      SELECT NULL AS id, ${MOVED} FROM payments p WHERE p.order_id = orders.id AND p.kind = 'transfer' AND p.status = 'confirmed'
      UNION ALL SELECT id, ${MOVED} FROM ${OWN_SWEEPS}) AS moved) AS settling
  WHERE settles AND id IS NOT NULL) AS s`

// Raw SQL, one statement as above.
const HISTORY = `
  SELECT ${orderFields}, deposit.synced_sequence, ${IS_HELD} AS is_held, deposit.blocked_reason, coalesce((
    SELECT json_agg(${paymentJson} ORDER BY p.block_number, p.id) FROM payments p WHERE p.order_id = orders.id), '[]') AS payments, coalesce((
    SELECT json_agg(${sweepJson}) FROM ${SETTLING_SWEEPS}), '[]') AS sweeps, (
    SELECT ${authorizationJson} FROM authorizations a WHERE a.order_id = orders.id) AS "authorization"
  FROM orders LEFT JOIN deposit_states AS deposit ON deposit.order_id = orders.id`

// Raw SQL because its plan was measured: `chain_id > 0` names the index of open orders, which is kept from every other query by it. An order whose address is not read up to here yet is left for later.
const DUE = `
  SELECT orders.id, orders.expires_at FROM orders LEFT JOIN deposit_states AS deposit ON deposit.order_id = orders.id
  WHERE chain_id = $1 AND chain_id > 0 AND status IN ('pending', 'underpaid', 'confirming') AND expires_at < $2
    AND (deposit_address IS NULL OR deposit.synced_sequence <= $3) AND NOT ${IS_HELD} AND (expires_at, orders.id) > ($4::timestamptz, $5::uuid)
  ORDER BY expires_at, orders.id LIMIT $6`

// Orders whose sweeps amount to their transfers but for dust, and that were not notified of as settled. Each is looked at when its sweep comes, so that few
// and young ones are left. Named by its own index; the sums are of few rows each.
const UNSETTLED = `
  SELECT orders.id FROM orders
  WHERE paid_at IS NOT NULL AND settled_at IS NULL AND paid_at > now() - interval '30 days' AND status = 'paid'
    AND (SELECT coalesce(sum(gross_units), 0) FROM ${OWN_SWEEPS}) + least(${CENT}, usdc_units - tolerance_units)
      > (SELECT coalesce(sum(gross_units), 0) FROM payments p WHERE p.order_id = orders.id AND p.kind = 'transfer' AND p.status = 'confirmed')
  ORDER BY paid_at LIMIT $1`

/** Where an order stands among those that expire. */
export interface Due {
  id: string
  expiresAt: Date
}

interface LedgerFields {
  synced_sequence: number | null
  is_held: boolean
  payments: PaymentFields[]
}
interface HistoryFields extends LedgerFields {
  blocked_reason: string | null
  sweeps: PaymentFields[]
  authorization: AuthorizationFields | null
}

const toLedger = ({ payments, synced_sequence, is_held, ...order }: OrderFields & LedgerFields): Ledger => ({
  order: fromFields(order),
  payments: payments.map(toPayment),
  syncedSequence: synced_sequence,
  isHeld: is_held,
})

const toHistory = ({ blocked_reason, sweeps, authorization, ...ledger }: OrderFields & HistoryFields): OrderHistory => ({
  ...toLedger(ledger),
  sweeps: sweeps.map(toSweep),
  blockedReason: blocked_reason,
  authorization: authorization && toAuthorization(authorization),
})

/** Before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

export function orderReads(database: Database, prisma: PrismaClient) {
  const read = async (name: string, which: string, values: readonly unknown[]): Promise<Ledger[]> => {
    const { rows } = await database.query<OrderFields & LedgerFields>({ name, text: `${LEDGERS} ${which}` }, values)
    return rows.map(toLedger)
  }
  const byIds = (ids: readonly string[]) => read('ledgers-by-id', 'WHERE orders.id = ANY($1::uuid[])', [ids])
  const histories = async (ids: readonly string[]): Promise<OrderHistory[]> => {
    const query = { name: 'order-histories', text: `${HISTORY} WHERE orders.id = ANY($1::uuid[])` }
    return (await database.query<OrderFields & HistoryFields>(query, [ids])).rows.map(toHistory)
  }
  const byMemo = groupCommit(async (memos: readonly string[]): Promise<(Ledger | null)[]> => {
    const found = new Map((await read('ledgers-by-memo', 'WHERE memo = ANY($1)', [memos])).map(ledger => [ledger.order.memo, ledger]))
    return memos.map(memo => found.get(memo) ?? null)
  })
  return {
    /** One order with its payments. A block brings many payments at one moment: orders asked for by memo are read together. */
    find: async (where: { id: string } | { memo: string }): Promise<Ledger | null> =>
      'memo' in where ? byMemo(where.memo) : ((await byIds([where.id]))[0] ?? null),

    /** One order with its payments and what became of their money. */
    history: async (id: string): Promise<OrderHistory | null> => (await histories([id]))[0] ?? null,

    histories,

    byIds,

    /** Paid orders that may have settled since the merchant was last notified. */
    async unsettled(limit: number): Promise<string[]> {
      const { rows } = await database.query<{ id: string }>({ name: 'orders-unsettled', text: UNSETTLED }, [limit])
      return rows.map(({ id }) => id)
    },

    /** Orders by id, which is by age: after the given one, or the newest. */
    page: (after: string | null | 'newest', limit: number): Promise<Ledger[]> =>
      after === 'newest'
        ? read('ledgers-newest', 'ORDER BY orders.id DESC LIMIT $1', [limit])
        : read('ledgers-after', 'WHERE orders.id > $2::uuid ORDER BY orders.id LIMIT $1', [limit, after ?? FIRST_ID]),

    /** Orders that may have expired as the chain is known, in order of `expires_at`, after the given one. */
    async due(chainId: number, { time, watermark }: ChainView, after: Due | null, limit: number): Promise<Due[]> {
      const values = [chainId, time, watermark, after?.expiresAt ?? '-infinity', after?.id ?? FIRST_ID, limit]
      const { rows } = await database.query<{ id: string; expires_at: Date }>({ name: 'orders-due', text: DUE }, values)
      return rows.map(row => ({ id: row.id, expiresAt: row.expires_at }))
    },

    /** What other orders have under these ids. */
    async paymentsOfOthers(memo: string, ids: readonly string[]): Promise<Payment[]> {
      const rows = await prisma.payment.findMany({ where: { id: { in: [...ids] }, order: { memo: { not: memo } } } })
      return rows.map(row => ({ ...row, kind: paymentKind(row.kind), status: paymentStatus(row.status) }))
    },

    /** Whose order has this memo; null when none has. */
    ownerOf: (memo: string) =>
      prisma.order.findUnique({
        select: { id: true, merchantId: true, merchantAddress: true, status: true, settledAt: true },
        where: { memo },
      }),

    /** True when plain transfers to this address (in EIP-55 form) pay an order. */
    isDepositAddress: async (depositAddress: string): Promise<boolean> =>
      (await prisma.order.findFirst({ select: { id: true }, where: { depositAddress } })) !== null,

    /** Orders whose payers watch confirmations arrive. */
    confirming: (chainId: number, limit: number) =>
      prisma.order.findMany({ select: { id: true, merchantId: true }, where: { chainId, status: 'confirming' }, take: limit }),
  }
}
