import { formatNullableUsdc, type MerchantTerms, parseNullableUsdc } from '@ponte/contracts'
import type { Database, Statement } from '@ponte/service-kit'
import type { Merchant, PrismaClient } from '../generated/client'

export const SAVE_TERMS = `
    INSERT INTO merchants AS known (id, version, display_name, payout_address, payment_tolerance_units)
    SELECT id, version, display_name, payout_address, payment_tolerance_units FROM json_populate_recordset(NULL::merchants, $merchants)
    ON CONFLICT (id) DO UPDATE
    SET version = EXCLUDED.version, display_name = EXCLUDED.display_name, payout_address = EXCLUDED.payout_address,
      payment_tolerance_units = EXCLUDED.payment_tolerance_units
    WHERE known.version < EXCLUDED.version`

// Raw SQL because it commits with its event.
const SAVE: Statement = { name: 'merchant-save', text: SAVE_TERMS }

/** Merchants' terms as the gateway last sent them, with a request or by event. */
export const merchantStore = (database: Database, prisma: PrismaClient) => ({
  async save(terms: MerchantTerms, eventId: string): Promise<void> {
    await database.commit({ inbox: [eventId], write: SAVE, rows: { merchants: [termsRecord(terms)] } })
  },

  async find(id: string): Promise<MerchantTerms> {
    return toTerms(await prisma.merchant.findUniqueOrThrow({ where: { id } }))
  },

  async findAll(ids: readonly string[]): Promise<Map<string, MerchantTerms>> {
    const rows = await prisma.merchant.findMany({ where: { id: { in: [...new Set(ids)] } } })
    return new Map(rows.map(row => [row.id, toTerms(row)]))
  },
})

export const termsRecord = ({ merchant_id, version, display_name, payout_address, payment_tolerance }: MerchantTerms) => ({
  ...{ id: merchant_id, version, display_name, payout_address },
  payment_tolerance_units: parseNullableUsdc(payment_tolerance)?.toString() ?? null,
})

const toTerms = (row: Merchant): MerchantTerms => ({
  merchant_id: row.id,
  version: row.version,
  display_name: row.displayName,
  payout_address: row.payoutAddress,
  payment_tolerance: formatNullableUsdc(row.paymentToleranceUnits),
})
