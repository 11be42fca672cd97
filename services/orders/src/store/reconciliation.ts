import type { Database } from '@ponte/service-kit'

/** A payment as it stands in the books, wherever that is. */
export interface Booked {
  id: string
  place: 'order' | 'unmatched'
  order_id: string | null
  reason: string | null
  status: string
  share_units: string
  block_number: string
}

const BETWEEN = `
  SELECT id, 'order' AS place, order_id, NULL AS reason, status, share_units::text, block_number::text FROM payments
  WHERE block_number BETWEEN $1 AND $2
  UNION ALL
  SELECT id, 'unmatched', NULL, reason, status, share_units::text, block_number::text FROM unmatched_payments
  WHERE chain_id = $3 AND block_number BETWEEN $1 AND $2`

/** What is needed to hold the books against the listener's. */
export const reconciliationStore = (database: Database) => ({
  async bookedBetween(chainId: number, from: number, to: number): Promise<Booked[]> {
    return (await database.query<Booked>(BETWEEN, [from, to, chainId])).rows
  },
})
