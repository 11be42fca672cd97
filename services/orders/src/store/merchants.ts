import type { MerchantTerms } from '@ponte/contracts'
import type { Database, Statement } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import { newestTerms } from '../order'

// Raw SQL because it commits with its event; the newest version stands.
const SAVE: Statement = {
  name: 'merchant-save',
  text: `
  INSERT INTO merchants AS known (id, version, display_name, payout_address)
  VALUES ($merchant_id, $version, $display_name, $payout_address)
  ON CONFLICT (id) DO UPDATE SET version = EXCLUDED.version, display_name = EXCLUDED.display_name, payout_address = EXCLUDED.payout_address
  WHERE known.version < EXCLUDED.version`,
}

const SHARING_MAX = 10

/** Our copy of what merchants set at the gateway; the newest version stands, in any order of arrival. */
export function merchantStore(database: Database, prisma: PrismaClient) {
  return {
    async save({ merchant_id, version, display_name, payout_address }: MerchantTerms, eventId: string): Promise<void> {
      await database.commit({ inbox: [eventId], write: SAVE, values: { merchant_id, version, display_name, payout_address } })
    },
    /** Who is paid at this address, in EIP-55 form; the first few of those who share it. */
    paidAt: (payoutAddress: string) =>
      prisma.merchant.findMany({
        select: { id: true, version: true },
        where: { payoutAddress },
        orderBy: { id: 'asc' },
        take: SHARING_MAX,
      }),

    /** The newer of our copy and what the caller knew. */
    async newestTerms(known: MerchantTerms): Promise<MerchantTerms> {
      const row = await prisma.merchant.findUnique({ where: { id: known.merchant_id } })
      return newestTerms(
        known,
        row && { merchant_id: row.id, version: row.version, display_name: row.displayName, payout_address: row.payoutAddress },
      )
    },
  }
}
