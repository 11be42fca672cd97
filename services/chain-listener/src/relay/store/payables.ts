import { createBatch, type Database } from '@ponte/service-kit'
import { LEASE_GUARD, mapLeaseLoss } from '../../store/lease'

/** What a payer may pay, and what its deposit address held when it was last looked at. Addresses are lower-case, the memo is 64 hex. */
export interface Payable {
  orderId: string
  memo: string
  merchant: string
  router: string
  address: string | null
  askedUnits: bigint
  heldUnits: bigint
  expiresAt: Date
}

export type NewPayable = Omit<Payable, 'heldUnits'> & { createdAt: Date }
/** And the event that told of it. */
type Told = NewPayable & { eventId: string }

interface Row {
  order_id: string
  memo: string
  merchant: string
  router: string
  address: string | null
  asked_units: string
  held_units: string
  expires_at: Date
}

const COLUMNS = 'order_id, memo, merchant, router, address, asked_units::text, held_units::text, expires_at'

const ADD = `
  WITH seen AS (INSERT INTO inbox (event_id) SELECT unnest($2::uuid[]))
  INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, asked_units, expires_at, created_at)
  SELECT $1, * FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::numeric[], $9::timestamptz[], $10::timestamptz[])
  ON CONFLICT (chain_id, order_id) DO NOTHING`
const ADDED_AT_ONCE = 200

/** Where money was seen to come or go since the last look, and where it still lies. */
const MOVED = `
  SELECT ${COLUMNS} FROM payables WHERE chain_id = $1 AND moved_at IS NOT NULL
  UNION
  SELECT ${COLUMNS} FROM payables WHERE chain_id = $1 AND held_units > 0`

const OLD = `
  SELECT ${COLUMNS} FROM payables
  WHERE chain_id = $1 AND address IS NOT NULL AND NOT level AND held_units = 0 AND expires_at <= $2::timestamptz - interval '1 hour'
    AND expires_at > $2::timestamptz - make_interval(days => $3) AND coalesce(looked_at, '-infinity') < $2::timestamptz - make_interval(secs => $4)
  ORDER BY coalesce(looked_at, '-infinity') LIMIT $5`

// What moved after the block of this look is to be looked at again.
const LOOKED = `
  WITH ${LEASE_GUARD}
  UPDATE payables SET held_units = seen.units, looked_at = $5, moved_at = CASE WHEN moved_at > $6 THEN moved_at END,
    failures = CASE WHEN seen.units > payables.held_units THEN 0 ELSE failures END,
    retry_at = CASE WHEN seen.units > payables.held_units THEN NULL ELSE retry_at END,
    held_since = CASE WHEN seen.units = 0 THEN NULL WHEN payables.held_units > 0 THEN held_since ELSE $5::timestamptz END
  FROM unnest($3::uuid[], $4::numeric[]) AS seen (order_id, units)
  WHERE payables.chain_id = $1 AND payables.order_id = seen.order_id`

/** Money that waits at addresses and is in no transaction of ours. */
const DUE = `
  SELECT ${COLUMNS} FROM payables
  WHERE chain_id = $1 AND held_units > 0 AND (retry_at IS NULL OR retry_at <= $2)
    AND (held_units >= $3::numeric OR held_units >= asked_units OR asked_units <= (
      SELECT coalesce(sum(share + fee), 0) FROM payments WHERE payments.chain_id = $1 AND deposit = payables.address AND state <> 'orphaned'))
    AND NOT EXISTS (SELECT 1 FROM relays WHERE relays.chain_id = $1 AND outcome IS NULL AND kind = 'sweep' AND payables.order_id = ANY(order_ids))
  ORDER BY router, held_since LIMIT $4`

const WAITING = `
  SELECT ${COLUMNS}, held_since, failures, retry_at FROM payables WHERE chain_id = $1 AND held_units > 0 ORDER BY held_since LIMIT $2`

const PUT_OFF = `
  WITH ${LEASE_GUARD}
  UPDATE payables SET failures = failures + 1, retry_at = $4::timestamptz + make_interval(secs => least(600, 5 * power(2, least(failures, 7))))
  WHERE chain_id = $1 AND order_id = ANY($3::uuid[])`

export type PayableStore = ReturnType<typeof payableStore>

/** SQL, because each of these runs in every block. */
export function payableStore(database: Database, chainId: number) {
  const list = async (name: string, text: string, values: unknown[]) =>
    (await database.query<Row>({ name: `payables-${name}`, text }, [chainId, ...values])).rows.map(toPayable)
  return {
    /** Keeps what an order asks for, once; those of one moment share a commit. */
    add: createBatch(ADDED_AT_ONCE, async (told: readonly Told[]) => {
      const column = <Name extends keyof Told>(name: Name) => told.map(one => one[name])
      await database.query({ name: 'payables-add', text: ADD }, [
        ...[chainId, column('eventId'), column('orderId'), column('memo'), column('merchant'), column('router'), column('address')],
        ...[column('askedUnits'), column('expiresAt'), column('createdAt')],
      ])
      return told.map(() => true)
    }),
    find: async (orderId: string): Promise<Payable | undefined> =>
      (await list('find', `SELECT ${COLUMNS} FROM payables WHERE chain_id = $1 AND order_id = $2`, [orderId]))[0],
    moved: () => list('moved', MOVED, []),
    old: (at: Date, rule: { days: number; everyS: number; limit: number }) => list('old', OLD, [at, rule.days, rule.everyS, rule.limit]),
    due: (at: Date, minUnits: bigint, limit: number) => list('due', DUE, [at, minUnits, limit]),
    /** Writes balances as of a block. An old address that holds money is watched by the scan again from now on. */
    async looked(epoch: bigint, seen: readonly { orderId: string; units: bigint }[], block: number, at: Date): Promise<void> {
      await mapLeaseLoss(
        database.query({ name: 'payables-looked', text: LOOKED }, [
          ...[chainId, epoch, seen.map(({ orderId }) => orderId), seen.map(({ units }) => units), at, block],
        ]),
      )
    },
    /** Tries these again later, and later each time. */
    async putOff(epoch: bigint, orderIds: readonly string[], at: Date): Promise<void> {
      await mapLeaseLoss(database.query({ name: 'payables-put-off', text: PUT_OFF }, [chainId, epoch, orderIds, at]))
    },
    /** For operators: what waits, oldest first. */
    async waiting(limit: number) {
      const { rows } = await database.query<Row & { held_since: Date; failures: number; retry_at: Date | null }>(WAITING, [chainId, limit])
      return rows.map(row => ({ ...toPayable(row), heldSince: row.held_since, failures: row.failures, retryAt: row.retry_at }))
    },
    async totals(): Promise<{ addresses: number; total: bigint; oldest: Date | null }> {
      const { rows } = await database.query<{ addresses: number; total: string; oldest: Date | null }>(
        `SELECT count(*)::int AS addresses, coalesce(sum(held_units), 0)::text AS total, min(held_since) AS oldest
         FROM payables WHERE chain_id = $1 AND held_units > 0`,
        [chainId],
      )
      return { addresses: rows[0]?.addresses ?? 0, total: BigInt(rows[0]?.total ?? 0), oldest: rows[0]?.oldest ?? null }
    },
  }
}

function toPayable(row: Row): Payable {
  return {
    orderId: row.order_id,
    memo: row.memo,
    merchant: row.merchant,
    router: row.router,
    address: row.address,
    askedUnits: BigInt(row.asked_units),
    heldUnits: BigInt(row.held_units),
    expiresAt: row.expires_at,
  }
}
