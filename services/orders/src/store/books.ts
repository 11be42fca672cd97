import type { Database } from '@ponte/service-kit'

/** A payment or a sweep as it stands in the books. */
export interface Booked {
  id: string
  place: 'order' | 'unmatched' | 'sweep'
  kind: 'router' | 'transfer' | 'sweep'
  order_id: string | null
  reason: string | null
  status: string
  gross_units: string
  block_number: string
}

// Three tables as one list, by block: no relation to ask Prisma by.
const BETWEEN = `
  SELECT id, 'order' AS place, kind, order_id, NULL AS reason, status, gross_units::text, block_number::text FROM payments
  WHERE block_number BETWEEN $1 AND $2
  UNION ALL
  SELECT id, 'unmatched', kind, NULL, reason, status, gross_units::text, block_number::text FROM unmatched_payments
  WHERE chain_id = $3 AND block_number BETWEEN $1 AND $2
  UNION ALL
  SELECT id, 'sweep', 'sweep', NULL, NULL, status, gross_units::text, block_number::text FROM sweeps
  WHERE chain_id = $3 AND block_number BETWEEN $1 AND $2`

/** What is needed to compare the books with the listener's. */
export const bookStore = (database: Database) => ({
  async between(chainId: number, from: number, to: number): Promise<Booked[]> {
    return (await database.query<Booked>(BETWEEN, [from, to, chainId])).rows
  },
})
