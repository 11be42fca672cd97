import type { MerchantTerms } from '@ponte/contracts'
import type { Merchant, PrismaClient } from '../generated/client'

/** Merchants' terms as the gateway last sent them with a request; they are written with the change that they came with. */
export const merchantStore = (prisma: PrismaClient) => ({
  async find(id: string): Promise<MerchantTerms> {
    return toTerms(await prisma.merchant.findUniqueOrThrow({ where: { id } }))
  },

  async findAll(ids: readonly string[]): Promise<Map<string, MerchantTerms>> {
    const rows = await prisma.merchant.findMany({ where: { id: { in: [...new Set(ids)] } } })
    return new Map(rows.map(row => [row.id, toTerms(row)]))
  },
})

const toTerms = (row: Merchant): MerchantTerms => ({
  merchant_id: row.id,
  version: row.version,
  display_name: row.displayName,
  payout_address: row.payoutAddress,
})
