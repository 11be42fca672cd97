import type { Database } from '@ponte/service-kit'
import type { BlockedDeposit } from '../events'
import type { PrismaClient } from '../generated/client'
import type { Deposit } from '../logs/transfer'

/** A deposit address whose earlier blocks are not all read yet. */
export interface UnsyncedDeposit extends Deposit {
  orderId: string
  /** The last block that was read for it. */
  readTo: number
}

// Raw SQL, in every block: one index lookup for each recipient, whatever the statistics are: most are not ours and touch the index alone.
const ISSUED = `
  SELECT issued.* FROM unnest($2::text[]) AS recipient (address) CROSS JOIN LATERAL (
    SELECT address, memo, merchant, router FROM payables
    WHERE payables.address = recipient.address AND chain_id = $1 AND synced OFFSET 0) AS issued`

// Raw SQL, in every turn: the partial index of unsynced addresses, in its own order.
const UNSYNCED =
  'SELECT order_id, address, memo, merchant, router, read_to::float8 FROM payables WHERE chain_id = $1 AND NOT synced AND address IS NOT NULL'
const RECENT = `${UNSYNCED} AND read_to >= $2 ORDER BY read_to DESC LIMIT $3`
const OLDEST = `${UNSYNCED} AND read_to >= $2 AND read_to < $3 ORDER BY read_to LIMIT $4`

// Raw SQL, in every turn: it compares two columns, as its partial index does.
const UNPUBLISHED = `
  SELECT order_id, memo, merchant, address, blocked_reason, blocked_revision FROM payables
  WHERE chain_id = $1 AND blocked_revision > blocked_published LIMIT 500`

interface UnsyncedRow extends Omit<UnsyncedDeposit, 'orderId' | 'readTo'> {
  order_id: string
  read_to: number
}

interface BlockedRow {
  order_id: string
  memo: string
  merchant: string
  address: string
  blocked_reason: BlockedDeposit['reason']
  blocked_revision: number
}

export type DepositStore = ReturnType<typeof depositStore>

/** The deposit addresses as the scan needs them. */
export function depositStore(database: Database, prisma: PrismaClient, chainId: number) {
  const ofChain = { chainId: BigInt(chainId), address: { not: null } }
  const unsynced = async (name: string, text: string, ...values: unknown[]): Promise<UnsyncedDeposit[]> => {
    const { rows } = await database.query<UnsyncedRow>({ name: `deposits-${name}`, text }, [chainId, ...values])
    return rows.map(({ order_id, read_to, ...deposit }) => ({ ...deposit, orderId: order_id, readTo: read_to }))
  }
  return {
    /** Those of these addresses that were ever issued and are synced, by address. */
    async issued(addresses: readonly string[]): Promise<Map<string, Deposit>> {
      if (addresses.length === 0) return new Map()
      const { rows } = await database.query<Deposit>({ name: 'deposits-issued', text: ISSUED }, [chainId, [...new Set(addresses)]])
      return new Map(rows.map(row => [row.address, row]))
    },
    /** Whether the scan has any address to hold transfers against. */
    anySynced: async (): Promise<boolean> => (await prisma.payable.findFirst({ where: { ...ofChain, synced: true } })) !== null,
    /** Not synced, and read at least up to a block; the newest first. */
    unsyncedFrom: (readTo: number, limit: number) => unsynced('unsynced-recent', RECENT, readTo, limit),
    /** Not synced, and read at least up to one block but not up to another; those that were read least first. */
    unsyncedBetween: (from: number, below: number, limit: number) => unsynced('unsynced-oldest', OLDEST, from, below, limit),
    anyUnsynced: async (): Promise<boolean> => (await prisma.payable.findFirst({ where: { ...ofChain, synced: false } })) !== null,
    countUnsynced: (): Promise<number> => prisma.payable.count({ where: { ...ofChain, synced: false } }),
    /** Changes in what can be swept that are not published yet. */
    async unpublished(): Promise<BlockedDeposit[]> {
      const { rows } = await database.query<BlockedRow>({ name: 'deposits-unpublished', text: UNPUBLISHED }, [chainId])
      return rows.map(({ order_id, memo, merchant, address, blocked_reason, blocked_revision }) => ({
        orderId: order_id,
        memo,
        merchant,
        address,
        reason: blocked_reason,
        revision: blocked_revision,
      }))
    },
  }
}
