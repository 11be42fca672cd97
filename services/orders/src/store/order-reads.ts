import { CENT } from '@ponte/contracts'
import { type Database, groupCommit } from '@ponte/service-kit'
import { z } from 'zod'
import type { PrismaClient } from '../generated/client'
import type { OrderHistory } from '../order/body'
import type { Ledger, Order } from '../order/order'
import { type ChainFacts, type ChainView, factsOf } from '../order/verdict'
import { chainIdsOf } from '../payment/payment'
import { FIRST_ID, LEASES } from './chain'
import { LEFT_OVER, TO_RETURN } from './left-over'
import { authorizations, merchantAddresses, movements, orders, otherNetwork, payments, toOrder, toPayment, toSweep } from './rows'

// Handled meanwhile, it is in the inbox.
const IS_HELD = `EXISTS (SELECT 1 FROM parked_memos AS parked WHERE parked.memo = orders.memo
    AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.event_id = parked.event_id))`
const NETWORKS = 'FROM order_networks AS network LEFT JOIN chain_cursors AS cursor USING (chain_id) WHERE network.order_id = orders.id'
const IS_UNOFFERED = "orders.networks @> jsonb_build_array(jsonb_build_object('chainId', network.chain_id, 'isOffered', false))"
const IS_WATCHED = 'network.watched_generation = cursor.generation AND network.watched_through >= 0'
// Few rows, and the same for every order of a statement.
const CHAINS = `(SELECT coalesce(json_agg(json_build_object('chainId', chain_id, 'generation', generation, 'leases', ${LEASES})), '[]') FROM chain_cursors AS cursor)`
/** Read of an order for its verdict. */
export const LEDGER_FACTS = `ARRAY(SELECT chain_id ${NETWORKS} AND ${IS_WATCHED}) AS watched_on, ${IS_HELD} AS is_held, ${CHAINS} AS chains`
export interface LedgerFields {
  /** Chains on which it is watched in their present generations. */
  watched_on: readonly number[]
  is_held: boolean
  chains: readonly ChainFacts[]
}
export function toFacts(row: LedgerFields): Ledger {
  const order = toOrder(row)
  return { order, isHeld: row.is_held, ...factsOf(chainIdsOf(order), row.watched_on, row.chains) }
}

// Raw SQL because it is one statement: what decides could change in between two.
const LEDGERS = `SELECT ${orders.select()}, ${LEDGER_FACTS} FROM orders`
// Raw SQL: sums that are held against those of the orders.
const COUNTED = `
  SELECT ${orders.select()}, ${LEDGER_FACTS}, counted.confirmed::text, counted.seen::text, counted.unnamed
  FROM orders
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(gross_units) FILTER (WHERE status = 'confirmed'), 0) AS confirmed,
      coalesce(sum(gross_units) FILTER (WHERE status <> 'orphaned'), 0) AS seen,
      count(*) FILTER (WHERE status = 'confirmed'
        AND EXISTS (SELECT ${NETWORKS} AND ${IS_WATCHED} AND (p.block_hash IS NULL OR p.id LIKE network.chain_id || ':%') AND block_number <= network.watched_through
          AND (p.generation IS NULL OR p.generation < network.watched_generation))
        AND NOT EXISTS (SELECT FROM attachments WHERE payment_id = p.id))::int AS unnamed
    FROM payments p WHERE p.order_id = orders.id) AS counted`

// An address follows from router, memo and merchant; only what left the order's own is its sweep, on a network where what came there counts. Anyone can sweep
// the same memo for another merchant.
const OWN_SWEEPS = `sweeps s WHERE s.memo = orders.memo AND s.status = 'confirmed' AND lower(s.merchant_address) = lower(payout_address_on(orders, s.chain_id))
  AND (s.chain_id, lower(s.router_address), lower(s.token_address)) IN (
    SELECT orders.chain_id, lower(orders.router_address), lower(orders.token_address)
    UNION ALL SELECT "chainId", lower("routerAddress"), lower("tokenAddress")
    FROM jsonb_to_recordset(orders.networks) AS other ("chainId" integer, "routerAddress" text, "tokenAddress" text, "isOffered" boolean)
    WHERE "isOffered" IS NOT FALSE)`

// The release before gave ids that name no chain, and orders one.
const CHAIN = "CASE WHEN orders.networks <> '[]' THEN split_part(id, ':', 1) END"
const MOVED = `tx_hash, block_number, block_time, log_index, ${CHAIN} AS chain,
  sum(gross_units) OVER (PARTITION BY ${CHAIN} ORDER BY block_number, log_index, id) AS total`
// The sweeps by which transfers were settled, each with all that was swept since the one before: anyone can sweep an address as often as they pay it, and what
// is read of them is no more than the order has transfers. One that settles stands behind a transfer in the order of the sums.
const SETTLING_SWEEPS = `(
  SELECT settling.*, total - coalesce(lag(total) OVER (PARTITION BY chain ORDER BY total), 0) AS gross_units
  FROM (
    SELECT moved.*, lag(id IS NULL) OVER (PARTITION BY chain ORDER BY total, id NULLS FIRST) AS settles
    FROM (
      SELECT NULL AS id, ${MOVED} FROM payments p WHERE p.order_id = orders.id AND p.kind = 'transfer' AND p.status = 'confirmed'
      UNION ALL SELECT id, ${MOVED} FROM ${OWN_SWEEPS}) AS moved) AS settling
  WHERE settles AND id IS NOT NULL) AS s`

/** Why an address of the order cannot be swept: on the network that orders name first, or the one after it. */
export const BLOCKED_REASON = `(SELECT blocked_reason FROM order_networks AS network WHERE network.order_id = orders.id AND blocked_reason IS NOT NULL
  ORDER BY network.chain_id <> orders.chain_id, network.chain_id LIMIT 1)`
const BLOCKED_ON = 'ARRAY(SELECT chain_id FROM order_networks WHERE order_id = orders.id AND blocked_reason IS NOT NULL)'

/** More are counted and not listed, the smallest: an order is answered however many payments of nothing it was sent. */
const LISTED_MAX = 10_000
// Raw SQL, one statement as above.
const SIGNED = authorizations.columns.filter(column => column !== 'chain_id').join(', ')
const AUTHORIZATIONS = `(
  SELECT orders.chain_id, ${SIGNED} FROM authorizations WHERE order_id = orders.id
  UNION ALL SELECT chain_id, ${SIGNED} FROM network_authorizations WHERE order_id = orders.id)`
const HISTORY = `
  SELECT ${orders.select()}, ${LEDGER_FACTS}, ${BLOCKED_REASON} AS blocked_reason, ${BLOCKED_ON} AS blocked_on, (${LEFT_OVER})::text AS left_over, (${TO_RETURN})::text AS to_return, coalesce((
    SELECT json_agg(${payments.json('p')}) FROM (
      SELECT * FROM (SELECT * FROM payments WHERE order_id = orders.id ORDER BY gross_units DESC, id LIMIT ${LISTED_MAX}) AS largest
      ORDER BY block_number, log_index, id) AS p), '[]') AS payments, coalesce((
    SELECT json_agg(${movements.json('s')}) FROM ${SETTLING_SWEEPS}), '[]') AS sweeps, coalesce((
    SELECT json_agg(${authorizations.json('a')}) FROM ${AUTHORIZATIONS} AS a), '[]') AS authorizations
  FROM orders`

// Raw SQL because its plan was measured: `chain_id > 0` names the index of open orders, which is kept from every other query by it. An order of which any network is behind, or
// not watched in its generation, is left for later.
const DUE = `
  SELECT orders.id, orders.expires_at FROM orders
  WHERE orders.chain_id = $1 AND orders.chain_id > 0 AND status IN ('pending', 'underpaid', 'confirming') AND expires_at < $2
    AND NOT ${IS_HELD} AND NOT EXISTS (SELECT ${NETWORKS} AND NOT ${IS_UNOFFERED} AND (cursor.confirmed_time > orders.expires_at AND ${IS_WATCHED}) IS NOT TRUE) AND (expires_at, orders.id) > ($3::timestamptz, $4::uuid)
  ORDER BY expires_at, orders.id LIMIT $5`

// Raw SQL by the same index, because it is read with every look at the metrics.
const STRANDED = `
  SELECT count(*)::int AS count FROM orders
  WHERE orders.chain_id > 0 AND status IN ('pending', 'underpaid', 'confirming') AND expires_at < $2
    AND EXISTS (SELECT FROM order_networks AS network WHERE network.order_id = orders.id AND network.chain_id <> ALL($1::int[]) AND NOT ${IS_UNOFFERED})`

// Orders whose sweeps amount to their transfers but for dust, and that were not notified of as settled. Each is looked at when its sweep comes, so that few
// and young ones are left. Named by its own index; the sums are of few rows each.
const UNSETTLED = `
  SELECT orders.id FROM orders
  WHERE paid_at IS NOT NULL AND settled_at IS NULL AND paid_at > now() - interval '30 days' AND status = 'paid'
    AND (SELECT coalesce(sum(gross_units), 0) FROM ${OWN_SWEEPS}) + least(${CENT}, usdc_units - tolerance_units)
      > (SELECT coalesce(sum(gross_units), 0) FROM payments p WHERE p.order_id = orders.id AND p.kind = 'transfer' AND p.status = 'confirmed')
  ORDER BY paid_at LIMIT $1`

/** On a network where the order is paid out elsewhere, its deposit address is another one. */
export const HAS_DEPOSIT = (address: string): string =>
  `merchant_addresses <> '{}' AND networks @> jsonb_build_array(jsonb_build_object('depositAddress', ${address}))`
// Raw SQL: each address by the two indexes.
const DEPOSITS = `
  SELECT address FROM unnest($1::text[]) AS address
  WHERE EXISTS (SELECT FROM orders WHERE deposit_address = address) OR EXISTS (SELECT FROM orders WHERE ${HAS_DEPOSIT('address')})`
const OF_DEPOSITS = `SELECT id FROM unnest($1::text[]) AS address JOIN orders ON ${HAS_DEPOSIT('address')}`

/** Picks the addresses (in EIP-55 form) to which plain transfers pay an order. */
export async function depositAddressesAmong(database: Database, addresses: readonly string[]): Promise<string[]> {
  const { rows } = await database.query<{ address: string }>({ name: 'deposit-addresses', text: DEPOSITS }, [addresses])
  return rows.map(({ address }) => address)
}

/** Where an order stands among those that expire. */
export interface Due {
  id: string
  expiresAt: Date
}

interface CountedFields extends LedgerFields {
  confirmed: string
  seen: string
  unnamed: number
}
interface HistoryFields extends LedgerFields {
  blocked_reason: string | null
  blocked_on: number[]
  left_over: string
  to_return: string
  payments: unknown[]
  sweeps: unknown[]
  authorizations: unknown[]
}

export interface Counted extends Ledger {
  order: Order
  confirmedUnits: bigint
  seenUnits: bigint
  /** Confirmed payments that the present generation of the listener did not report. */
  unnamed: number
}

const toCounted = (row: CountedFields): Counted => ({
  ...toFacts(row),
  confirmedUnits: BigInt(row.confirmed),
  seenUnits: BigInt(row.seen),
  unnamed: row.unnamed,
})

const toHistory = (row: HistoryFields): OrderHistory => ({
  ...toFacts(row),
  payments: row.payments.map(toPayment),
  sweeps: row.sweeps.map(toSweep),
  blockedReason: row.blocked_reason,
  blockedOn: new Set(row.blocked_on),
  leftOverUnits: BigInt(row.left_over),
  toReturnUnits: BigInt(row.to_return),
  authorizations: row.authorizations.map(one => authorizations.parse(one)),
})

export function orderReads(database: Database, prisma: PrismaClient) {
  const read = async (name: string, which: string, values: readonly unknown[]): Promise<Ledger[]> =>
    (await database.query<LedgerFields>({ name, text: `${LEDGERS} ${which}` }, values)).rows.map(toFacts)
  const count = async (name: string, which: string, values: readonly unknown[]): Promise<Counted[]> =>
    (await database.query<CountedFields>({ name, text: `${COUNTED} ${which}` }, values)).rows.map(toCounted)
  const histories = async (ids: readonly string[]): Promise<OrderHistory[]> => {
    const query = { name: 'order-histories', text: `${HISTORY} WHERE orders.id = ANY($1::uuid[])` }
    return (await database.query<HistoryFields>(query, [ids])).rows.map(toHistory)
  }
  const byId = groupCommit(async (ids: readonly string[]): Promise<(Ledger | null)[]> => {
    const found = new Map(
      (await read('ledgers-by-id', 'WHERE orders.id = ANY($1::uuid[])', [ids])).map(ledger => [ledger.order.id, ledger]),
    )
    return ids.map(id => found.get(id) ?? null)
  })
  return {
    /** One order with what decides it. */
    find: (id: string): Promise<Ledger | null> => byId(id),

    /** One order with its payments and what became of their money. */
    history: async (id: string): Promise<OrderHistory | null> => (await histories([id]))[0] ?? null,

    histories,

    counted: (ids: readonly string[]): Promise<Counted[]> => count('counted-by-id', 'WHERE orders.id = ANY($1::uuid[])', [ids]),

    /** Paid orders that may have settled since the merchant was last notified. */
    async unsettled(limit: number): Promise<string[]> {
      const { rows } = await database.query<{ id: string }>({ name: 'orders-unsettled', text: UNSETTLED }, [limit])
      return rows.map(({ id }) => id)
    },

    /** Orders by id, which is by age, with their payments counted anew: after the given one, or the newest. */
    page: (after: string | null | 'newest', limit: number): Promise<Counted[]> =>
      after === 'newest'
        ? count('counted-newest', 'ORDER BY orders.id DESC LIMIT $1', [limit])
        : count('counted-after', 'WHERE orders.id > $2::uuid ORDER BY orders.id LIMIT $1', [limit, after ?? FIRST_ID]),

    /** Orders that may have expired as the chain is known, in order of `expires_at`, after the given one. */
    async due(chainId: number, { time }: ChainView, after: Due | null, limit: number): Promise<Due[]> {
      const values = [chainId, time, after?.expiresAt ?? '-infinity', after?.id ?? FIRST_ID, limit]
      const { rows } = await database.query<{ id: string; expires_at: Date }>({ name: 'orders-due', text: DUE }, values)
      return rows.map(row => ({ id: row.id, expiresAt: row.expires_at }))
    },

    /** Open orders past their end that may be paid on a network beside these, which is not followed: they never expire. */
    async stranded(chainIds: readonly number[], at: Date): Promise<number> {
      const { rows } = await database.query<{ count: number }>({ name: 'orders-stranded', text: STRANDED }, [chainIds, at])
      return rows[0]?.count ?? 0
    },

    /** Null when no order has this memo. */
    async ownerOf(memo: string) {
      const owner = await prisma.order.findUnique({
        select: { id: true, merchantId: true, merchantAddress: true, merchantAddresses: true, status: true, settledAt: true },
        where: { memo },
      })
      return owner && { ...owner, merchantAddresses: merchantAddresses.parse(owner.merchantAddresses) }
    },

    async memosOf(memos: readonly string[]): Promise<string[]> {
      if (memos.length === 0) return []
      return (await prisma.order.findMany({ select: { memo: true }, where: { memo: { in: [...memos] } } })).map(({ memo }) => memo)
    },

    /** Orders but this one that a transaction may pay, by memo or by deposit address (in EIP-55 form). */
    payees: async (id: string, memos: string[], depositAddresses: string[]) => {
      const elsewhere = await database.query<{ id: string }>({ name: 'orders-of-deposits', text: OF_DEPOSITS }, [depositAddresses])
      const ids = elsewhere.rows.map(row => row.id)
      const found = await prisma.order.findMany({
        select: {
          ...{ id: true, merchantId: true, memo: true, chainId: true, tokenAddress: true, routerAddress: true },
          ...{ merchantAddress: true, merchantAddresses: true, depositAddress: true, networks: true },
        },
        where: { id: { not: id }, OR: [{ memo: { in: memos } }, { depositAddress: { in: depositAddresses } }, { id: { in: ids } }] },
      })
      return found.map(payee => ({
        ...payee,
        merchantAddresses: merchantAddresses.parse(payee.merchantAddresses),
        networks: z.array(otherNetwork).parse(payee.networks),
      }))
    },

    /** True when plain transfers to this address (in EIP-55 form) pay an order. */
    isDepositAddress: async (address: string): Promise<boolean> => (await depositAddressesAmong(database, [address])).length > 0,

    /** Orders whose payers watch confirmations arrive. */
    confirming: (chainId: number, limit: number) =>
      prisma.order.findMany({ select: { id: true, merchantId: true }, where: { chainId, status: 'confirming' }, take: limit }),
  }
}
