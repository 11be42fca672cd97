import type { EventData } from '@ponte/contracts'
import { type Database, insertRows, type Statement } from '@ponte/service-kit'
import type { Merchant, PrismaClient } from '../generated/client'

/** Raw SQL because the newest version wins inside the statement, whatever the order of delivery. What failed at another URL states nothing of this one. */
const COLUMNS = [
  'id',
  'version',
  'webhook_url',
  'sealed_webhook_secret',
  'sealed_pending_webhook_secret',
  'pending_webhook_secret_activates_at',
]
const SAVE: Statement = {
  name: 'merchant-save',
  text: `
  WITH moved AS (
    UPDATE lanes SET failing_since = NULL
    FROM merchants m JOIN json_populate_recordset(NULL::merchants, $merchants) AS incoming ON incoming.id = m.id
    WHERE lanes.endpoint_id = m.id AND m.version < incoming.version AND m.webhook_url IS DISTINCT FROM incoming.webhook_url
  )
  ${insertRows('merchants', COLUMNS)}
  ON CONFLICT (id) DO UPDATE SET ${COLUMNS.map(column => `${column} = EXCLUDED.${column}`).join(', ')}
  WHERE merchants.version < EXCLUDED.version`,
}

export function merchantStore(database: Database, prisma: PrismaClient) {
  return {
    find: (id: string): Promise<Merchant | null> => prisma.merchant.findUnique({ where: { id } }),

    /** Keeps the newest version, in any order of arrival; a repetition changes nothing, so it needs no inbox row. */
    async save(merchant: EventData<'merchant.updated'>): Promise<void> {
      await database.commit({ write: SAVE, rows: { merchants: [{ ...merchant, id: merchant.merchant_id }] } })
    },
  }
}
