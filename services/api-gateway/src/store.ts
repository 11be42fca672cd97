import { ApiError, type MerchantTerms } from '@ponte/contracts'
import { createBatch, type Database, isUniqueViolation, toOutbox, uuidv7 } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { type Merchant as MerchantRow, PrismaClient } from './generated/client'
import type { Change, Merchant } from './merchant'
import { rateWindowStore } from './store/rate-windows'

/** Who did it, for the audit log. */
export interface Actor {
  userId: string
  requestId: string
}
export type Action = 'merchant.create' | 'merchant.update' | 'api_key.rotate' | 'webhook_secret.rotate' | 'webhook_secret.activate'

export type Store = ReturnType<typeof openStore>

const TERMS_BY_KEY = `
  SELECT encode(k.hash, 'hex') AS hash, m.id AS merchant_id, m.version, m.display_name, m.payout_address
  FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ANY($1::bytea[]) AND k.revoked_at IS NULL`
const KEYS_AT_ONCE = 200
const KEY_PATIENCE_MS = 8_000

const AUDITED = `audited AS (
    INSERT INTO audit_log (id, merchant_id, user_id, action, changed, request_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7))`
const TOLD = 'told AS (INSERT INTO outbox (id, type, body) SELECT * FROM unnest($8::uuid[], $9::text[], $10::text[]))'

const INSERT = `
  WITH ${AUDITED}, ${TOLD},
  keyed AS (INSERT INTO api_keys (hash, merchant_id, created_at) VALUES ($18, $2, $7))
  INSERT INTO merchants (id, user_id, version, display_name, webhook_url, payout_address, sealed_webhook_secret, sealed_pending_secret,
    pending_activates_at, created_at, updated_at)
  VALUES ($2, $3, $11, $12, $13, $14, $15, $16, $17, $7, $7)`

// A version that moved on since it was read becomes NULL, which the column refuses: the whole statement is undone.
const COMMIT = `
  WITH ${AUDITED}, ${TOLD}
  UPDATE merchants SET version = CASE WHEN version = $11::int - 1 THEN $11::int END, display_name = $12, webhook_url = $13, payout_address = $14,
    sealed_webhook_secret = $15, sealed_pending_secret = $16, pending_activates_at = $17, updated_at = $7
  WHERE id = $2`

// The new key waits for the old one's end; two rotations at once meet at api_keys_active, and the later one is tried again.
const ROTATE_KEY = `
  WITH ${AUDITED},
  revoked AS (UPDATE api_keys SET revoked_at = $7 WHERE merchant_id = $2 AND revoked_at IS NULL RETURNING 1)
  INSERT INTO api_keys (hash, merchant_id, created_at) SELECT $8::bytea, $2::uuid, $7::timestamptz FROM (SELECT count(*) FROM revoked) AS done`

/** Merchants, their keys and their audit log. Every commit is one statement: row, audit entry and event together or not at all. */
export function openStore(database: Database, options: { now: () => Date; committed(): void }) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  const { now } = options

  const audit = (merchantId: string, actor: Actor, action: Action, changed: string[], at: Date) => [
    ...[uuidv7(), merchantId, actor.userId, action, changed, actor.requestId, at],
  ]
  const audited = ({ merchant, changed }: Change, action: Action, actor: Actor) =>
    audit(merchant.id, actor, action, changed, merchant.updatedAt)
  const columns = ({ merchant, events }: Change) => {
    const outbox = toOutbox(events, now())
    const { pending } = merchant
    return [
      ...[outbox.ids, outbox.types, outbox.bodies, merchant.version, merchant.displayName, merchant.webhookUrl, merchant.payoutAddress],
      ...[merchant.sealedWebhookSecret, pending?.sealed ?? null, pending?.activatesAt ?? null],
    ]
  }
  return {
    ...rateWindowStore(database),

    /**
     * The terms of the merchant whose key has this hash; null when it is unknown or revoked. Asked of the database for each request, once for
     * those of one moment, so that a rotation counts at once everywhere.
     */
    termsByKey: createBatch(
      KEYS_AT_ONCE,
      async (hashes: readonly Buffer[]): Promise<(MerchantTerms | null)[]> => {
        const { rows } = await database.query<MerchantTerms & { hash: string }>({ name: 'terms-by-key', text: TERMS_BY_KEY }, [hashes])
        const found = new Map(rows.map(({ hash, ...terms }) => [hash, terms]))
        return hashes.map(hash => found.get(hash.toString('hex')) ?? null)
      },
      KEY_PATIENCE_MS,
    ),

    async findByUser(userId: string): Promise<Merchant | null> {
      const row = await prisma.merchant.findUnique({ where: { userId } })
      return row && toMerchant(row)
    },

    /** Writes a new merchant with its first key. Throws ApiError `merchant_exists` when the user has one. */
    async insert(change: Change, keyHash: Buffer, actor: Actor): Promise<void> {
      try {
        await database.query(INSERT, [...audited(change, 'merchant.create', actor), ...columns(change), keyHash])
      } catch (error) {
        if (!isUniqueViolation(error, 'merchants_user_id_key')) throw error
        throw new ApiError('merchant_exists', 'This user already has a merchant; GET /api/v1/merchants/me shows it.')
      }
      options.committed()
    },

    /** Writes a change of a merchant that was read at the version before. Throws a stale error (`isStale`) when it has moved on. */
    async commit(change: Change, action: Action, actor: Actor): Promise<void> {
      await database.query(COMMIT, [...audited(change, action, actor), ...columns(change)])
      options.committed()
    },

    /** Revokes the present key and puts this one in its place, in one statement. */
    async rotateKey(merchantId: string, keyHash: Buffer, actor: Actor): Promise<void> {
      for (;;) {
        try {
          await database.query(ROTATE_KEY, [...audit(merchantId, actor, 'api_key.rotate', ['api_key'], now()), keyHash])
          return
        } catch (error) {
          if (!isUniqueViolation(error, 'api_keys_active')) throw error
        }
      }
    },

    auditLog: (merchantId: string) => prisma.auditEntry.findMany({ where: { merchantId }, orderBy: { at: 'asc' } }),
  }
}

const toMerchant = ({ sealedPendingSecret, pendingActivatesAt, ...row }: MerchantRow): Merchant => ({
  ...row,
  pending: sealedPendingSecret && pendingActivatesAt ? { sealed: sealedPendingSecret, activatesAt: pendingActivatesAt } : null,
})
