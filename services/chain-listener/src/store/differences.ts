import type { Database } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'

export type DifferenceKind = 'missing' | 'unfounded' | 'changed' | 'unconfirmed' | 'balance' | 'checkpoint'

/** Found where nothing is on its way any more. */
export interface Difference {
  kind: DifferenceKind
  txHash: string | null
  logIndex: number | null
  blockNumber: number
  memo: string
  detail: string
}

// Raw SQL, so that what is gone and what is found change together, and with them the doubt about orders that something new names: the scan then publishes
// that they are not watched any more, until no difference names them.
const SAVE = `
  WITH incoming AS (
    SELECT * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::text[], $8::text[])
      AS found (key, kind, block_number, tx_hash, log_index, memo, detail)),
  gone AS (DELETE FROM differences WHERE chain_id = $1 AND key <> ALL($2::text[])),
  doubted AS (
    UPDATE payables SET doubted = true, asked = asked + 1
    WHERE chain_id = $1 AND memo IN (
      SELECT memo FROM incoming WHERE NOT EXISTS (SELECT 1 FROM differences AS known WHERE known.chain_id = $1 AND known.key = incoming.key)))
  INSERT INTO differences (chain_id, key, kind, block_number, tx_hash, log_index, memo, detail)
  SELECT $1, incoming.* FROM incoming
  ON CONFLICT (chain_id, key) DO UPDATE SET detail = EXCLUDED.detail`

/** Where rows and chain differ, as the reconciler last found it; whichever replica leads next goes on from there. */
export function differenceStore(database: Database, prisma: PrismaClient, chainId: number) {
  const where = { chainId: BigInt(chainId) }
  return {
    any: async (): Promise<boolean> => (await prisma.difference.findFirst({ select: { key: true }, where })) !== null,
    async list(): Promise<Map<string, Difference>> {
      const rows = await prisma.difference.findMany({ where })
      return new Map(
        rows.map(({ key, kind, blockNumber, ...row }) => [key, { ...row, kind: kind as DifferenceKind, blockNumber: Number(blockNumber) }]),
      )
    },
    /** These and no others. Orders that a new one names are doubted. */
    async save(found: ReadonlyMap<string, Difference>): Promise<void> {
      const differences = [...found.values()]
      const column = <T>(pick: (difference: Difference) => T) => differences.map(pick)
      await database.query(SAVE, [
        chainId,
        [...found.keys()],
        column(one => one.kind),
        column(one => one.blockNumber),
        column(one => one.txHash),
        column(one => one.logIndex),
        column(one => one.memo),
        column(one => one.detail),
      ])
    },
  }
}
