import { type Database, flag, int, table, text, time, units } from '@ponte/service-kit'
import type { RefundClaim } from '../refund/claim'
import { CODE_TRIES_MAX } from '../refund/code'

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
  email: text.nullable(),
  wantsCode: flag,
  codeHash: text.nullable(),
  codeIssuedAt: time.nullable(),
  codesIssued: int,
  codeTries: int,
})

// Raw SQL: a try is taken before its code is compared, so that of many at once no more are compared than there are tries, and none comes back when what follows fails.
const TAKE_TRY = `
  UPDATE refund_claims SET code_tries = code_tries + 1 WHERE id = $1 AND code_hash IS NOT NULL AND code_tries < ${CODE_TRIES_MAX}
  RETURNING ${refundClaims.select()}`
// Raw SQL: a partial index finds them. What is over was cleared with the commit that ended it, unless a release before did that.
const FORGET = `
  UPDATE refund_claims SET email = NULL, code_hash = NULL
  WHERE email IS NOT NULL AND (expires_at <= $1 OR cancelled_at IS NOT NULL)`

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
    ofOrder: (orderId: string): Promise<RefundClaim[]> => found('refund-claims-of-order', 'order_id', orderId),
    /** Counts a try with the code that was mailed last. Null where there is none, or none is left. */
    async takeCodeTry(id: string): Promise<RefundClaim | null> {
      const { rows } = await database.query({ name: 'refund-claim-take-try', text: TAKE_TRY }, [id])
      return rows[0] ? refundClaims.parse(rows[0]) : null
    },
    /** Removes mail addresses of claims that are over. */
    async forget(at: Date): Promise<void> {
      await database.query({ name: 'refund-claims-forget', text: FORGET }, [at])
    },
  }
}
