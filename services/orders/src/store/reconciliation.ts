import type { Database } from '@ponte/service-kit'
import type { Prisma, PrismaClient } from '../generated/client'
import { toOrder, toPayment } from './order-row'
import type { Ledger } from './orders'

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

/** What is needed to hold the books against themselves and against the listener's. */
export function reconciliationStore(database: Database, prisma: PrismaClient) {
  // Order and payments in one statement: between two of them a payment could come in.
  const find = async (which: Pick<Prisma.OrderFindManyArgs, 'where' | 'orderBy' | 'take'>): Promise<Ledger[]> => {
    const rows = await prisma.order.findMany({ ...which, include: { payments: true }, relationLoadStrategy: 'join' })
    return rows.map(({ payments, ...order }) => ({ order: toOrder(order), payments: payments.map(toPayment) }))
  }
  return {
    /** Orders with their payments by id, which is by age: after the given one, or the newest. */
    ledgers: (after: string | null | 'newest', limit: number) =>
      find({
        ...(after === null || after === 'newest' ? {} : { where: { id: { gt: after } } }),
        orderBy: { id: after === 'newest' ? 'desc' : 'asc' },
        take: limit,
      }),

    ledgersOf: (ids: readonly string[]) => find({ where: { id: { in: [...ids] } } }),

    async bookedBetween(chainId: number, from: number, to: number): Promise<Booked[]> {
      return (await database.query<Booked>(BETWEEN, [from, to, chainId])).rows
    },
  }
}
