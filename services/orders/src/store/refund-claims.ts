import type { Database } from '@ponte/service-kit'
import type { RefundClaim } from '../refund/claim'
import { table, text, time, units } from './table'

export const refundClaims = table('refund_claims', {
  id: text,
  orderId: text,
  merchantId: text,
  payerToken: text,
  units,
  reason: text,
  requestedBy: text.nullable(),
  createdAt: time,
  expiresAt: time,
  cancelledAt: time.nullable(),
  claimedAt: time.nullable(),
  txHash: text.nullable(),
  refundId: text.nullable(),
})

/** They are written with the refunds of their order. Raw SQL reads them by the same declaration of the table. */
export function refundClaimStore(database: Database) {
  const found = async (name: string, where: string, id: string): Promise<RefundClaim[]> =>
    (
      await database.query({ name, text: `SELECT ${refundClaims.select()} FROM refund_claims WHERE ${where} = $1 ORDER BY id` }, [id])
    ).rows.map(row => refundClaims.parse(row))
  return {
    find: async (id: string): Promise<RefundClaim | null> => (await found('refund-claim-find', 'id', id))[0] ?? null,
    findByPayerToken: async (token: string): Promise<RefundClaim | null> =>
      (await found('refund-claim-of-payer', 'payer_token', token))[0] ?? null,
    /** In the order in which they were made. */
    ofOrder: (orderId: string): Promise<RefundClaim[]> => found('refund-claims-of-order', 'order_id', orderId),
  }
}
