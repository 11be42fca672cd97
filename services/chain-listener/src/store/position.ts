import type { Database } from '@ponte/service-kit'
import type { ChainCursor, PrismaClient } from '../generated/client'
import type { Block, Position } from '../logs/block'
import { mapLeaseLoss } from './lease'

/** As it stands in the database under one lease: read, confirmed and published up to where. */
export interface Cursor {
  chainId: number
  /** The history that this belongs to, how many commits it has, and the first block of its contiguous chain of confirmed blocks. */
  generation: string
  version: number
  since: number
  startBlock: number
  /** The hash of block 0, where a node could give it. */
  genesisHash: string | null
  scanned: Position & { time: Date | null }
  confirmed: { number: number; time: Date | null }
  /** The confirmed block up to which `chain.blocks` advanced. */
  announced: number
}

const TAKE_RELAY_LEASE = `
  INSERT INTO chain_cursor (chain_id, epoch, start_block, relay_epoch, relay_accounts) VALUES ($1, 0, $2, 1, $3)
  ON CONFLICT (chain_id) DO UPDATE SET relay_epoch = chain_cursor.relay_epoch + 1, relay_accounts = EXCLUDED.relay_accounts
  RETURNING relay_epoch::text AS epoch`

// Raw SQL because cursor and block are written under the lease's guard, in one statement.
const ANCHOR = `
  WITH cursor AS (
    UPDATE chain_cursor SET epoch = CASE WHEN epoch = $2 THEN epoch END, genesis_hash = $3, scanned_number = $4, scanned_hash = $5,
      scanned_time = $6, confirmed_number = $4, confirmed_time = $6, announced_number = $4, since = $4::bigint + 1
    WHERE chain_id = $1)
  INSERT INTO blocks (chain_id, number, hash, parent_hash, time)
  SELECT $1, $4, $5, $7, $6 WHERE $5::text IS NOT NULL
  ON CONFLICT (chain_id, number) DO UPDATE SET hash = EXCLUDED.hash, parent_hash = EXCLUDED.parent_hash, time = EXCLUDED.time`

/**
 * Owed by the scan: addresses that it does not read for yet, blocks that are missing for a subject, orders that are asked for, and events that orders has lost.
 */
export interface Owed {
  isUnfollowed: boolean
  isMissing: boolean
  isAsked: boolean
  republishFrom: number | null
}

// Raw SQL, in every turn: each is one look into a partial index that is empty nearly always.
const OWED = `
  SELECT EXISTS (SELECT 1 FROM coverage WHERE coverage.chain_id = $1 AND NOT upper_inf(blocks)) AS "isUnfollowed",
    EXISTS (SELECT 1 FROM coverage WHERE coverage.chain_id = $1 AND blocks <> '{(,)}'::int8multirange) AS "isMissing",
    EXISTS (SELECT 1 FROM payables WHERE payables.chain_id = $1 AND asked > answered) AS "isAsked",
    republish_from::float8 AS "republishFrom"
  FROM chain_cursor WHERE chain_id = $1`

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

export function positionStore(database: Database, prisma: PrismaClient, chainId: number) {
  return {
    /** Where the scan stands; undefined before the first block was fixed. */
    async find(): Promise<Cursor | undefined> {
      const row = await prisma.chainCursor.findUnique({ where: { chainId: BigInt(chainId) } })
      return row ? toCursor(row) : undefined
    },

    /** Needs no lease. */
    row: () => prisma.chainCursor.findUnique({ where: { chainId: BigInt(chainId) } }),

    async owed(): Promise<Owed> {
      const { rows } = await database.query<Owed>({ name: 'owed', text: OWED }, [chainId])
      return rows[0] ?? { isUnfollowed: false, isMissing: false, isAsked: false, republishFrom: null }
    },

    /** Fixes the first position: the block before the first one to read, or nothing when that is block 0. */
    async anchor(epoch: bigint, before: Block | undefined, startBlock: number, genesisHash: string | null): Promise<void> {
      const anchored = database.query(ANCHOR, [
        chainId,
        epoch,
        genesisHash,
        startBlock - 1,
        before?.hash ?? null,
        before ? toDate(before.time) : null,
        before?.parentHash ?? null,
      ])
      await mapLeaseLoss(anchored)
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
  if (row.scannedNumber === null || row.generation === null) return undefined
  return {
    chainId: Number(row.chainId),
    generation: row.generation,
    version: Number(row.version),
    since: Number(row.since ?? row.startBlock),
    startBlock: Number(row.startBlock),
    genesisHash: row.genesisHash,
    scanned: { number: Number(row.scannedNumber), hash: row.scannedHash, time: row.scannedTime },
    confirmed: { number: Number(row.confirmedNumber), time: row.confirmedTime },
    announced: Number(row.announcedNumber ?? row.confirmedNumber),
  }
}
