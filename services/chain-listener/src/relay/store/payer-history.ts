import type { Database } from '@ponte/service-kit'

// Raw, because the partial index that makes it one probe is not in Prisma's schema.
const REVERTED = "SELECT 1 FROM authorizations WHERE chain_id = $1 AND payer = $2 AND wallet AND reason = 'reverted' LIMIT 1"

// Raw, because authorisations and payables have no relation in Prisma's schema.
// A key that took its money away has to pay by other means first: one payment is no licence for many reverts.
const RETURNING_PAYER = `
  SELECT 1 FROM authorizations JOIN payables USING (chain_id, order_id)
  WHERE chain_id = $1 AND payer = $2 AND state = 'paid' AND coalesce(payables.merchant_id::text, payables.merchant) = $3
    AND NOT EXISTS (SELECT 1 FROM authorizations AS failed WHERE failed.chain_id = $1 AND failed.payer = $2 AND failed.reason = 'reverted')
  LIMIT 1`

export function payerHistory(database: Database, chainId: number) {
  const finds = async (name: string, text: string, values: unknown[]): Promise<boolean> =>
    (await database.query({ name, text }, [chainId, ...values])).rowCount !== 0
  return {
    /** Whether a transaction of this contract wallet reverted on the chain, whatever it was for. */
    hasReverted: (payer: string) => finds('payer-reverted', REVERTED, [payer]),
    /** Whether this payer has paid the merchant nothing by a signature yet, or has let a transaction revert. */
    isNewPayer: async (payer: string, payee: string) => !(await finds('payer-returns', RETURNING_PAYER, [payer, payee])),
  }
}
