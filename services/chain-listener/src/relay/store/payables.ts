import { type DepositBlocked, depositBlockReason } from '@ponte/contracts'
import { profileOf } from '@ponte/payment-router'
import { commitUnit, createBatch, type Database, flag, int, table, text, time, units } from '@ponte/service-kit'
import { mapLeaseLoss, RELAY_LEASE_GUARD } from '../../store/lease'
import { ADD } from './add'
import { CANCEL, IS_CANCELLED } from './cancellation'

/** An address that a payer may pay, with its balance at the last look. Addresses are lower-case, the memo is 64 hex. */
const payable = table(
  'payables',
  {
    orderId: text,
    memo: text,
    merchant: text,
    /** Its gas counts against this budget: the merchant's id, or the payout address where that is not known. */
    payee: text,
    router: text,
    /** Null where it is not known. */
    askedUnits: units.nullable(),
    isCancelled: flag,
    /** Null when the order has no deposit address; authorisations work all the same. */
    address: text.nullable(),
    /** A contract stood at the merchant's address when the order was made: it must stand on this chain, too, before anything is swept there. */
    merchantIsContract: flag,
    heldUnits: units,
    expiresAt: time,
    blockedReason: depositBlockReason.nullable(),
    /** Consecutive failed sweeps. */
    failures: int,
  },
  { payee: 'coalesce(merchant_id::text, merchant)', isCancelled: IS_CANCELLED },
)
export type Payable = ReturnType<typeof payable.parse>

export type NewPayable = Omit<Payable, 'payee' | 'isCancelled' | 'heldUnits' | 'blockedReason' | 'failures'> & {
  merchantId: string
  /** The first block in which its address can have been paid. */
  watchFrom: number
}
interface Issued {
  eventId: string
  payables: readonly (NewPayable & { cancelledAt: Date | null })[]
}

/** A deposit that could not be swept, and why, where that is certain. */
export interface Refusal {
  orderId: string
  reason: DepositBlocked['reason']
}

const ADDED_AT_ONCE = 200

// Raw, because it runs in every block.
const MOVED = `SELECT ${payable.select()} FROM payables WHERE chain_id = $1 AND moved_at IS NOT NULL ORDER BY moved_at LIMIT $2`

// Raw, because many balances are compared with what stands, under the lease's guard.
// Money that moved after the block of this look is to be looked at again. An empty address is not blocked any more.
const LOOKED = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE payables SET held_units = seen.units, moved_at = CASE WHEN moved_at > $6 THEN moved_at END,
    failures = CASE WHEN seen.units > held_units AND blocked_reason IS NULL THEN 0 ELSE failures END,
    retry_at = CASE WHEN seen.units > held_units AND blocked_reason IS NULL THEN NULL ELSE retry_at END,
    held_since = CASE WHEN seen.units = 0 THEN NULL WHEN held_units > 0 THEN held_since ELSE $5::timestamptz END,
    blocked_reason = CASE WHEN seen.units > 0 THEN blocked_reason END,
    blocked_revision = blocked_revision + CASE WHEN seen.units = 0 AND blocked_reason IS NOT NULL THEN 1 ELSE 0 END
  FROM unnest($3::uuid[], $4::numeric[]) AS seen (order_id, units)
  WHERE payables.chain_id = $1 AND payables.order_id = seen.order_id`

// Raw, because it excludes what an open transaction's array names, in every block.
/** Money that is worth its sweep and is in no transaction of this account; that which was tried comes behind what was not. */
const DUE = `
  SELECT ${payable.select()} FROM payables
  WHERE chain_id = $1 AND held_units > 0 AND held_units >= $3::numeric AND (retry_at IS NULL OR retry_at <= $2) AND router = ANY($5)
    AND NOT EXISTS (SELECT 1 FROM relays
      WHERE relays.chain_id = $1 AND outcome IS NULL AND kind = 'sweep' AND sender = $6 AND payables.order_id = ANY(order_ids))
  ORDER BY router, retry_at NULLS FIRST, held_since LIMIT $4`

// Raw, because it has the columns of the others.
const WAITING = `
  SELECT ${payable.select()}, held_since, retry_at FROM payables WHERE chain_id = $1 AND held_units > 0 ORDER BY held_since LIMIT $2`

// Raw, because each row has its own reason and delay, under the lease's guard.
const REFUSED = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE payables SET failures = failures + 1, retry_at = $5::timestamptz + make_interval(secs => least(600, 5 * power(2, least(failures, 7)))),
    blocked_reason = coalesce(refused.reason, blocked_reason),
    blocked_revision = blocked_revision + CASE WHEN coalesce(refused.reason, blocked_reason) IS DISTINCT FROM blocked_reason THEN 1 ELSE 0 END
  FROM unnest($3::uuid[], $4::text[]) AS refused (order_id, reason)
  WHERE payables.chain_id = $1 AND payables.order_id = refused.order_id`

// Raw, because it counts revisions under the lease's guard.
const UNBLOCKED = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE payables SET failures = 0, retry_at = NULL, blocked_reason = NULL, blocked_revision = blocked_revision + 1
  WHERE chain_id = $1 AND order_id = ANY($3::uuid[]) AND blocked_reason IS NOT NULL`

// Raw, because it is guarded by the lease. Worth no gas now, or beyond a budget: no failure of the deposit.
const PUT_OFF = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE payables SET retry_at = $4::timestamptz + interval '1 minute' WHERE chain_id = $1 AND order_id = ANY($3::uuid[])`

// Raw, because it is guarded by the lease. The balance at the confirmed block is read again, and not before a moment has passed.
const EMPTIED = `
  WITH ${RELAY_LEASE_GUARD}
  UPDATE payables SET moved_at = greatest(moved_at, $4), retry_at = $5::timestamptz + interval '15 seconds'
  WHERE chain_id = $1 AND order_id = ANY($3::uuid[])`

// Raw, because Prisma has no sum with a filter.
const TOTALS = `
  SELECT count(*)::int AS addresses, coalesce(sum(held_units), 0)::text AS total,
    min(held_since) FILTER (WHERE held_units >= $2::numeric) AS oldest_due
  FROM payables WHERE chain_id = $1 AND held_units > 0`

// Raw, because payments and payables have no relation in Prisma's schema.
const SEEN = `
  SELECT coalesce(sum(payments.amount), 0)::text AS units FROM payments JOIN payables
    ON payables.chain_id = payments.chain_id AND payables.memo = payments.memo AND payables.merchant = payments.merchant
      AND payables.router = payments.router
  WHERE payables.chain_id = $1 AND payables.order_id = $2 AND payments.kind <> 'sweep' AND payments.state <> 'orphaned'`

// Raw, as TOTALS beside it.
const BLOCKED = 'SELECT count(*)::int AS blocked FROM payables WHERE chain_id = $1 AND blocked_reason IS NOT NULL'

export type PayableStore = ReturnType<typeof payableStore>

/** SQL, because each of these runs in every block. */
export function payableStore(database: Database, chainId: number) {
  const list = async (name: string, text: string, values: unknown[]) =>
    (await database.query({ name: `payables-${name}`, text }, [chainId, ...values])).rows.map(payable.parse)
  const write = async (name: string, text: string, epoch: bigint, ...values: unknown[]): Promise<void> => {
    await mapLeaseLoss(database.query({ name: `payables-${name}`, text }, [chainId, epoch, ...values]))
  }
  return {
    /** Keeps what orders ask for, each once; those of one moment share a commit. */
    add: createBatch(ADDED_AT_ONCE, async (issued: readonly Issued[]) => {
      // One row is changed once in a statement.
      const byOrder = new Map(issued.flatMap(({ payables }) => payables.map(payable => [payable.orderId, payable])))
      const payables = [...byOrder.values()].map(payable => ({
        chain_id: chainId,
        order_id: payable.orderId,
        memo: payable.memo,
        merchant: payable.merchant,
        router: payable.router,
        address: payable.address,
        merchant_is_contract: payable.merchantIsContract,
        expires_at: payable.expiresAt,
        watch_from: payable.watchFrom,
        merchant_id: payable.merchantId,
        asked_units: payable.askedUnits,
        cancelled_at: payable.cancelledAt,
      }))
      await commitUnit(database, {
        inbox: issued.map(({ eventId }) => eventId),
        write: ADD,
        rows: { payables },
        values: { block_ms: profileOf(chainId).blockMs },
      })
      return issued.map(() => true)
    }),
    find: async (orderId: string): Promise<Payable | undefined> =>
      (await list('find', `SELECT ${payable.select()} FROM payables WHERE chain_id = $1 AND order_id = $2`, [orderId]))[0],
    /** No signature for it is taken any more. */
    async cancel(orderId: string, eventId: string, at: Date): Promise<void> {
      await database.commit({ inbox: [eventId], write: CANCEL, values: { chain_id: chainId, order_id: orderId, at } })
    },
    /** Unconfirmed payments included. */
    async seenUnits(orderId: string): Promise<bigint> {
      const { rows } = await database.query<{ units: string }>({ name: 'payables-seen', text: SEEN }, [chainId, orderId])
      return BigInt(rows[0]?.units ?? 0)
    },
    /** Where money came or went since the last look. */
    moved: (limit: number) => list('moved', MOVED, [limit]),
    due: (at: Date, of: { minUnits: bigint; routers: readonly string[]; limit: number; sender: string }) =>
      list('due', DUE, [at, of.minUnits, of.limit, of.routers, of.sender]),
    /** Writes balances as of a block. */
    looked: (epoch: bigint, seen: readonly { orderId: string; units: bigint }[], block: number, at: Date) =>
      write('looked', LOOKED, epoch, ...[seen.map(({ orderId }) => orderId), seen.map(({ units }) => units), at, block]),
    /** These cannot be swept; each is tried again later, and later each time. */
    refused: (epoch: bigint, refusals: readonly Refusal[], at: Date) =>
      write('refused', REFUSED, epoch, ...[refusals.map(({ orderId }) => orderId), refusals.map(({ reason }) => reason), at]),
    /** These wait for a lower price of gas, or for a budget. */
    putOff: (epoch: bigint, orderIds: readonly string[], at: Date) => write('put-off', PUT_OFF, epoch, orderIds, at),
    /** These can be swept again. */
    unblocked: (epoch: bigint, orderIds: readonly string[]) => write('unblocked', UNBLOCKED, epoch, orderIds),
    /** At the head there is nothing worth a sweep any more. */
    emptied: (epoch: bigint, orderIds: readonly string[], block: number, at: Date) => write('emptied', EMPTIED, epoch, orderIds, block, at),
    /** For operators: what waits, oldest first. */
    async waiting(limit: number) {
      const { rows } = await database.query<{ held_since: Date; retry_at: Date | null }>(WAITING, [chainId, limit])
      return rows.map(row => ({ ...payable.parse(row), heldSince: row.held_since, retryAt: row.retry_at }))
    },
    /** Of all that waits: how much, and since when what is worth its sweep does. */
    async totals(minUnits: bigint): Promise<{ addresses: number; total: bigint; oldestDue: Date | null; blocked: number }> {
      const { rows } = await database.query<{ addresses: number; total: string; oldest_due: Date | null }>(TOTALS, [chainId, minUnits])
      const { blocked } = (await database.query<{ blocked: number }>(BLOCKED, [chainId])).rows[0] ?? { blocked: 0 }
      const [totals] = rows
      return { addresses: totals?.addresses ?? 0, total: BigInt(totals?.total ?? 0), oldestDue: totals?.oldest_due ?? null, blocked }
    },
  }
}
