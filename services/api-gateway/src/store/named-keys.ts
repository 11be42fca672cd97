import { type CreateApiKey, KEY_SCOPES, type NamedKeyBody } from '@ponte/contracts'
import {
  canonicalJson,
  type Database,
  insertRows,
  isUniqueViolation,
  outboxRows,
  type Statement,
  snakeCase,
  uuidv8Of,
} from '@ponte/service-kit'
import { hashOf, KEY_SHOWN_AGAIN_MS } from '../credentials/api-key'
import type { NamedKey as NamedKeyRow, PrismaClient } from '../generated/client'
import { atNextVersion, type Merchant } from '../merchant/merchant'
import { ACCOUNT_ROWS, type Actor, accountChanged, accountRows, auditEntry } from './audit-log'
import type { MerchantStoreOptions } from './options'

export type NamedKey = Omit<NamedKeyRow, 'hash' | 'requestHash' | 'bodyHash'>

/** A creation that a client can repeat: its Idempotency-Key and body, and the salt of the key that was derived for it. */
export interface NamedKeyRequest {
  idempotencyKey: string
  body: CreateApiKey
  salt: Uint8Array
}

const COLUMNS = ['id', 'merchant_id', 'hash', 'prefix', 'name', 'scopes', 'created_by', 'created_at', 'expires_at']

const TEAM = 'team AS (UPDATE merchants SET version = CASE WHEN version = $version THEN version + 1 END WHERE id = $merchant_id)'
// Raw SQL, because they commit with their audit rows. Old requests are forgotten first, so that the same request can be made anew.
const INSERT: Statement = {
  name: 'named-key-insert',
  text: `
  WITH ${ACCOUNT_ROWS},
  ${TEAM},
  forgotten AS (UPDATE named_keys SET request_hash = NULL, body_hash = NULL, salt = NULL
    WHERE merchant_id = $merchant_id AND request_hash IS NOT NULL AND created_at < $forgotten_before RETURNING 1)
  ${insertRows('named_keys', [...COLUMNS, 'request_hash', 'body_hash', 'salt'])}, (SELECT count(*) FROM forgotten) AS done`,
}
const FORGET = `
  UPDATE named_keys SET request_hash = NULL, body_hash = NULL, salt = NULL WHERE request_hash IS NOT NULL AND created_at < $1`
const REVOKE: Statement = {
  name: 'named-key-revoke',
  text: `
  WITH ${ACCOUNT_ROWS}, ${TEAM}
  UPDATE named_keys SET revoked_at = $at::timestamptz WHERE id = $id`,
}

/** Keys that a merchant made beside the one of the specification. */
export function namedKeyStore(database: Database, prisma: PrismaClient, options: MerchantStoreOptions) {
  const { now, committed } = options
  const forgottenBefore = () => new Date(now().getTime() - KEY_SHOWN_AGAIN_MS)
  return {
    /** The key that this request was answered with, and whether the body was the same; null when the request is new. */
    async findByRequest(merchantId: string, { idempotencyKey, body }: Omit<NamedKeyRequest, 'salt'>) {
      const row = await prisma.namedKey.findUnique({
        where: { merchantId_requestHash: { merchantId, requestHash: hashOf(idempotencyKey) }, createdAt: { gte: forgottenBefore() } },
      })
      return row && { key: row, isSameBody: Buffer.compare(row.bodyHash ?? Buffer.alloc(0), hashOf(canonicalJson(body))) === 0 }
    },
    find: (merchantId: string, id: string): Promise<NamedKey | null> => prisma.namedKey.findFirst({ where: { merchantId, id } }),
    list: (merchantId: string): Promise<NamedKey[]> =>
      prisma.namedKey.findMany({ where: { merchantId, revokedAt: null }, orderBy: { id: 'desc' } }),

    /**
     * False, with nothing changed, when the same request has made its key already. Throws a stale error (`isStale`) when the merchant has moved on
     * since it was read, before its maker was: a key that a removal has not seen must not outlive it.
     */
    async insert(merchant: Merchant, key: NamedKey, hash: Buffer, actor: Actor, request: NamedKeyRequest | null): Promise<boolean> {
      const moved = atNextVersion(merchant)
      const entry = auditEntry(key.merchantId, actor, 'named_key.create', ['api_key', ...key.scopes], key.createdAt, {
        id: uuidv8Of(hash),
        target: key.id,
      })
      const repeatable = request && {
        request_hash: hashOf(request.idempotencyKey),
        body_hash: hashOf(canonicalJson(request.body)),
        salt: request.salt,
      }
      try {
        await database.commit({
          events: outboxRows([moved.event, accountChanged(entry, moved.merchant)], key.createdAt),
          write: INSERT,
          rows: { named_keys: [{ ...snakeCase(key), hash, ...repeatable }], ...accountRows(entry, merchant, options) },
          values: { merchant_id: key.merchantId, version: merchant.version, forgotten_before: forgottenBefore() },
        })
        committed()
        return true
      } catch (error) {
        if (!isUniqueViolation(error, 'named_keys_merchant_id_request_hash_key')) throw error
        return false
      }
    },

    async forgetRequests(): Promise<void> {
      await database.query(FORGET, [forgottenBefore()])
    },

    /** Ends a key at once. Throws a stale error (`isStale`) when the merchant has moved on since it was read, before its key was. */
    async revoke(merchant: Merchant, key: NamedKey, actor: Actor): Promise<NamedKey> {
      const at = now()
      const moved = atNextVersion(merchant)
      const entry = auditEntry(merchant.id, actor, 'named_key.revoke', ['api_key'], at, { target: key.id })
      await database.commit({
        events: outboxRows([moved.event, accountChanged(entry, moved.merchant)], at),
        write: REVOKE,
        rows: accountRows(entry, merchant, options),
        values: { merchant_id: merchant.id, version: merchant.version, id: key.id, at },
      })
      committed()
      return { ...key, revokedAt: at }
    },
  }
}

export const namedKeyBody = (key: NamedKey): NamedKeyBody => ({
  object: 'api_key',
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: KEY_SCOPES.filter(scope => key.scopes.includes(scope)),
  created_at: key.createdAt.toISOString(),
  created_by: key.createdBy,
  expires_at: key.expiresAt?.toISOString() ?? null,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
})
