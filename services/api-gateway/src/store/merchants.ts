import { ApiError } from '@ponte/contracts'
import { type Database, isUniqueViolation, toOutbox } from '@ponte/service-kit'
import type { Merchant as MerchantRow, PrismaClient } from '../generated/client'
import type { Change, Merchant } from '../merchant'
import { type Action, type Actor, auditEntry } from './audit-log'

export interface MerchantStoreOptions {
  now: () => Date
  /** Called after each commit with events. */
  committed(): void
}

const AUDIT_CTE = `audit_entry AS (
    INSERT INTO audit_log (id, merchant_id, user_id, action, changed, request_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7))`
const OUTBOX_CTE = 'outbox_rows AS (INSERT INTO outbox (id, type, body) SELECT * FROM unnest($8::uuid[], $9::text[], $10::text[]))'

// Raw, like UPDATE: the row, its audit entry and its event are one statement.
const INSERT = `
  WITH ${AUDIT_CTE}, ${OUTBOX_CTE},
  first_key AS (INSERT INTO api_keys (hash, merchant_id, created_at) VALUES ($18, $2, $7))
  INSERT INTO merchants (id, user_id, version, display_name, webhook_url, payout_address, sealed_webhook_secret, sealed_pending_secret,
    pending_activates_at, created_at, updated_at)
  VALUES ($2, $3, $11, $12, $13, $14, $15, $16, $17, $7, $7)`

// A stale version becomes NULL, which the column refuses: the whole statement is rolled back.
const UPDATE = `
  WITH ${AUDIT_CTE}, ${OUTBOX_CTE}
  UPDATE merchants SET version = CASE WHEN version = $11::int - 1 THEN $11::int END, display_name = $12, webhook_url = $13, payout_address = $14,
    sealed_webhook_secret = $15, sealed_pending_secret = $16, pending_activates_at = $17, updated_at = $7
  WHERE id = $2`

export function merchantStore(database: Database, prisma: PrismaClient, { now, committed }: MerchantStoreOptions) {
  const values = ({ merchant, events, changed }: Change, action: Action, actor: Actor) => {
    const audit = auditEntry(merchant.id, actor, action, changed, merchant.updatedAt)
    const outbox = toOutbox(events, now())
    return [
      audit.id,
      audit.merchantId,
      audit.userId,
      audit.action,
      audit.changed,
      audit.requestId,
      audit.at,
      outbox.ids,
      outbox.types,
      outbox.bodies,
      merchant.version,
      merchant.displayName,
      merchant.webhookUrl,
      merchant.payoutAddress,
      merchant.sealedWebhookSecret,
      merchant.pending?.sealed ?? null,
      merchant.pending?.activatesAt ?? null,
    ]
  }
  return {
    async findByUser(userId: string): Promise<Merchant | null> {
      const row = await prisma.merchant.findUnique({ where: { userId } })
      return row && toMerchant(row)
    },

    /** Writes a new merchant with its first key. Throws ApiError `merchant_exists` when the user has one. */
    async insert(change: Change, keyHash: Buffer, actor: Actor): Promise<void> {
      try {
        await database.query(INSERT, [...values(change, 'merchant.create', actor), keyHash])
      } catch (error) {
        if (!isUniqueViolation(error, 'merchants_user_id_key')) throw error
        throw new ApiError('merchant_exists', 'This user already has a merchant; GET /api/v1/merchants/me shows it.')
      }
      committed()
    },

    /** Writes a change of a merchant that was read at the version before. Throws a stale error (`isStale`) when it has moved on. */
    async update(change: Change, action: Action, actor: Actor): Promise<void> {
      await database.query(UPDATE, values(change, action, actor))
      committed()
    },
  }
}

const toMerchant = ({ sealedPendingSecret, pendingActivatesAt, ...row }: MerchantRow): Merchant => ({
  ...row,
  pending: sealedPendingSecret && pendingActivatesAt ? { sealed: sealedPendingSecret, activatesAt: pendingActivatesAt } : null,
})
