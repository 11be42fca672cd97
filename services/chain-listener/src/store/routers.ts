import type { Database } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import { LEASE_GUARD } from './lease'

/** Routers that are read up to the cursor before the scan goes on. */
export interface AddedRouters {
  addresses: string[]
  /** The last block that was read for them. */
  readTo: number
}

// Raw SQL because the rows change under the lease's guard, in one statement.
const FOLLOW = `
  WITH ${LEASE_GUARD},
  gone AS (DELETE FROM routers WHERE chain_id = $1 AND address <> ALL($3::text[]))
  INSERT INTO routers (chain_id, address, late_scanned) SELECT $1, address, $4 FROM unnest($3::text[]) AS new (address)
  ON CONFLICT (chain_id, address) DO NOTHING`

/** Which routers are followed, and which of them are not level with the cursor yet. */
export function routerStore(database: Database, prisma: PrismaClient, chainId: number) {
  return {
    /** Follows exactly these. New ones were read up to `readTo`, or are level with the cursor when that is null. */
    async follow(epoch: bigint, routers: readonly string[], readTo: number | null): Promise<void> {
      await database.query(FOLLOW, [chainId, epoch, [...routers], readTo])
    },

    async added(): Promise<AddedRouters | undefined> {
      const rows = await prisma.router.findMany({
        where: { chainId: BigInt(chainId), lateScanned: { not: null } },
        orderBy: { address: 'asc' },
      })
      if (rows.length === 0) return undefined
      return { addresses: rows.map(row => row.address), readTo: Math.min(...rows.map(row => Number(row.lateScanned))) }
    },
  }
}
