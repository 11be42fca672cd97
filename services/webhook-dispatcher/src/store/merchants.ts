import type { EventData } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import type { Merchant, PrismaClient } from '../generated/client'

/** Raw SQL because the newest version wins inside the statement, whatever the order of delivery. */
const SAVE = `
  INSERT INTO merchants AS known
    (id, version, webhook_url, sealed_webhook_secret, sealed_pending_webhook_secret, pending_webhook_secret_activates_at)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO UPDATE SET
    version = EXCLUDED.version, webhook_url = EXCLUDED.webhook_url, sealed_webhook_secret = EXCLUDED.sealed_webhook_secret,
    sealed_pending_webhook_secret = EXCLUDED.sealed_pending_webhook_secret,
    pending_webhook_secret_activates_at = EXCLUDED.pending_webhook_secret_activates_at
  WHERE known.version < EXCLUDED.version`

export function merchantStore(database: Database, prisma: PrismaClient) {
  return {
    find: (id: string): Promise<Merchant | null> => prisma.merchant.findUnique({ where: { id } }),

    /** Keeps the newest version, in any order of arrival; a repetition changes nothing, so it needs no inbox row. */
    async save(merchant: EventData<'merchant.updated'>): Promise<void> {
      await database.query({ name: 'merchant-save', text: SAVE }, [
        merchant.merchant_id,
        merchant.version,
        merchant.webhook_url,
        merchant.sealed_webhook_secret,
        merchant.sealed_pending_webhook_secret,
        merchant.pending_webhook_secret_activates_at,
      ])
    },
  }
}
