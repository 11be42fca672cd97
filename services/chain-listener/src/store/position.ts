import type { Database } from '@ponte/service-kit'
import type { ChainCursor, PrismaClient } from '../generated/client'
import type { Block, Position } from '../logs/block'

/** How far a chain is read, confirmed and published, as it stands in the database under one lease. */
export interface Cursor {
  chainId: number
  startBlock: number
  /** The hash of block 0, where a node could give it. */
  genesisHash: string | null
  scanned: Position & { time: Date | null }
  confirmed: { number: number; time: Date | null }
  /** The confirmed block that `chain.advanced` last named. */
  announced: number
  /** The last number given to a payment event. */
  sequence: number
}

// Raw SQL because the epoch is counted by the database, in one upsert.
const TAKE_LEASE = `
  INSERT INTO chain_cursor (chain_id, epoch, start_block) VALUES ($1, 1, $2)
  ON CONFLICT (chain_id) DO UPDATE SET epoch = chain_cursor.epoch + 1
  RETURNING epoch::text AS epoch`

const TAKE_RELAY_LEASE = `
  INSERT INTO chain_cursor (chain_id, epoch, start_block, relay_epoch, relay_accounts) VALUES ($1, 0, $2, 1, $3)
  ON CONFLICT (chain_id) DO UPDATE SET relay_epoch = chain_cursor.relay_epoch + 1, relay_accounts = EXCLUDED.relay_accounts
  RETURNING relay_epoch::text AS epoch`

// Raw SQL because cursor and block are written under the lease's guard, in one statement.
const ANCHOR = `
  WITH cursor AS (
    UPDATE chain_cursor SET epoch = CASE WHEN epoch = $2 THEN epoch END, genesis_hash = $3, scanned_number = $4, scanned_hash = $5,
      scanned_time = $6, confirmed_number = $4, confirmed_time = $6, announced_number = $4
    WHERE chain_id = $1)
  INSERT INTO blocks (chain_id, number, hash, parent_hash, time)
  SELECT $1, $4, $5, $7, $6 WHERE $5::text IS NOT NULL
  ON CONFLICT (chain_id, number) DO UPDATE SET hash = EXCLUDED.hash, parent_hash = EXCLUDED.parent_hash, time = EXCLUDED.time`

/** Begins a new epoch of the relayer: its writes under an older one are refused from now on. Its accounts are kept for the contract monitor, which may run elsewhere. */
export async function takeRelayLease(
  database: Database,
  chainId: number,
  startBlock: number,
  accounts: readonly string[],
): Promise<bigint> {
  const { rows } = await database.query<{ epoch: string }>(TAKE_RELAY_LEASE, [chainId, startBlock, accounts])
  return BigInt(rows[0]?.epoch ?? 0)
}

/** The last block that is confirmed, by whichever process reads the chain; undefined before the first one. */
export async function confirmedBlock(database: Database, chainId: number): Promise<number | undefined> {
  const text = 'SELECT confirmed_number::float8 AS number FROM chain_cursor WHERE chain_id = $1'
  const { rows } = await database.query<{ number: number | null }>({ name: 'confirmed-block', text }, [chainId])
  return rows[0]?.number ?? undefined
}

/** The cursor's row and the remembered blocks. */
export function positionStore(database: Database, prisma: PrismaClient, chainId: number) {
  return {
    /** Begins a new epoch: writes under an older one are refused from now on. */
    async takeLease(startBlock: number): Promise<bigint> {
      const { rows } = await database.query<{ epoch: string }>(TAKE_LEASE, [chainId, startBlock])
      return BigInt(rows[0]?.epoch ?? 0)
    },

    /** Where the scan stands; undefined before the first block was fixed. */
    async find(): Promise<Cursor | undefined> {
      const row = await prisma.chainCursor.findUnique({ where: { chainId: BigInt(chainId) } })
      return row ? toCursor(row) : undefined
    },

    /** What anyone may know without a lease. */
    row: () => prisma.chainCursor.findUnique({ where: { chainId: BigInt(chainId) } }),

    /** Fixes the first position: the block before the first one to read, or nothing when that is block 0. */
    async anchor(epoch: bigint, before: Block | undefined, startBlock: number, genesisHash: string | null): Promise<void> {
      await database.query(ANCHOR, [
        chainId,
        epoch,
        genesisHash,
        startBlock - 1,
        before?.hash ?? null,
        before ? toDate(before.time) : null,
        before?.parentHash ?? null,
      ])
    },

    /** The remembered blocks up to our position, highest first. */
    async remembered(upTo: number): Promise<Block[]> {
      const rows = await prisma.block.findMany({
        where: { chainId: BigInt(chainId), number: { lte: BigInt(upTo) } },
        orderBy: { number: 'desc' },
      })
      return rows.map(row => ({
        number: Number(row.number),
        hash: row.hash,
        parentHash: row.parentHash,
        time: Math.floor(row.time.getTime() / 1_000),
      }))
    },

    /** Forgets blocks that no reorganisation we follow can reach. */
    async forget(below: number): Promise<void> {
      await prisma.block.deleteMany({ where: { chainId: BigInt(chainId), number: { lt: BigInt(below) } } })
    },
  }
}

export const toDate = (seconds: number) => new Date(seconds * 1_000)

function toCursor(row: ChainCursor): Cursor | undefined {
  if (row.scannedNumber === null) return undefined
  return {
    chainId: Number(row.chainId),
    startBlock: Number(row.startBlock),
    genesisHash: row.genesisHash,
    scanned: { number: Number(row.scannedNumber), hash: row.scannedHash, time: row.scannedTime },
    confirmed: { number: Number(row.confirmedNumber), time: row.confirmedTime },
    announced: Number(row.announcedNumber),
    sequence: Number(row.sequence),
  }
}
