import type { Database } from '@ponte/service-kit'
import { LEASE_GUARD, mapLeaseLoss } from './lease'

/** A deposit address that the scan is to read transfers to. Addresses are lower-case. */
export interface Watched {
  orderId: string
  memo: string
  merchant: string
  router: string
  address: string
  /** The last block that was read for it before; null when none was. */
  readTo: number | null
  createdAt: Date
}

const COLUMNS = 'order_id, memo, merchant, router, address, read_to::float8, created_at'

const LEVEL = `SELECT ${COLUMNS} FROM payables WHERE chain_id = $1 AND level`

/** Orders that can still be paid, for an hour longer than they say, because a transfer may be on its way; and whatever holds money. */
const LATE = `
  SELECT ${COLUMNS} FROM payables WHERE chain_id = $1 AND NOT level AND address IS NOT NULL AND expires_at > $2::timestamptz - interval '1 hour'
  UNION ALL
  SELECT ${COLUMNS} FROM payables WHERE chain_id = $1 AND NOT level AND held_units > 0 AND expires_at <= $2::timestamptz - interval '1 hour'`

const CLOSE = `
  WITH ${LEASE_GUARD}
  UPDATE payables SET level = false, read_to = $4
  WHERE chain_id = $1 AND level AND expires_at <= $3::timestamptz - interval '1 hour' AND held_units = 0 AND moved_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM payments WHERE payments.chain_id = $1 AND deposit = payables.address AND state = 'detected')
  RETURNING address`

interface Row {
  order_id: string
  memo: string
  merchant: string
  router: string
  address: string
  read_to: number | null
  created_at: Date
}

export type DepositStore = ReturnType<typeof depositStore>

/** Which deposit addresses the scan reads transfers to. SQL, because the plans matter: one of these runs in every turn. */
export function depositStore(database: Database, chainId: number) {
  const list = async (name: string, text: string, values: unknown[]): Promise<Watched[]> =>
    (await database.query<Row>({ name: `deposits-${name}`, text }, [chainId, ...values])).rows.map(toWatched)
  return {
    /** Those that are level with the cursor: read in each block. */
    level: () => list('level', LEVEL, []),
    /** Those that are not: new ones, and old ones at which money was found. */
    late: (at: Date) => list('late', LATE, [at]),
    /** Lets go of those whose time is over, read up to a block; answers their addresses. Throws LeaseLostError. */
    async close(epoch: bigint, at: Date, readTo: number): Promise<string[]> {
      const closed = database.query<{ address: string }>({ name: 'deposits-close', text: CLOSE }, [chainId, epoch, at, readTo])
      return (await mapLeaseLoss(closed)).rows.map(({ address }) => address)
    },
  }
}

const toWatched = (row: Row): Watched => ({
  orderId: row.order_id,
  memo: row.memo,
  merchant: row.merchant,
  router: row.router,
  address: row.address,
  readTo: row.read_to,
  createdAt: row.created_at,
})
