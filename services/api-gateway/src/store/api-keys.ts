import { createHash } from 'node:crypto'
import type { MerchantTerms } from '@ponte/contracts'
import { createBatch, type Database, isUniqueViolation, type Statement } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'
import { type Actor, auditEntry, auditRecordOf, INSERT_AUDIT_ROWS } from './audit-log'

/** A rotation that a client can repeat: its Idempotency-Key, and the salt of the key that was derived for it. */
export interface RotationRequest {
  idempotencyKey: string
  salt: Uint8Array
}

// Raw SQL, because it is on the path of every request with a key: the hashes of concurrent requests share one round trip.
const TERMS_BY_KEY = `
  SELECT encode(k.hash, 'hex') AS hash, m.id AS merchant_id, m.version, m.display_name, m.payout_address
  FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ANY($1::bytea[]) AND k.revoked_at IS NULL`

// Raw SQL, so that no lock is held over a round trip. The join makes the new key wait for the old one's end; old requests are forgotten on the way.
const ROTATE: Statement = {
  name: 'api-key-rotate',
  text: `
  WITH audit_rows AS (${INSERT_AUDIT_ROWS}),
  ended AS (
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, $at),
      request_hash = CASE WHEN created_at >= $forgotten_before THEN request_hash END,
      salt = CASE WHEN created_at >= $forgotten_before THEN salt END
    WHERE merchant_id = $merchant_id AND (revoked_at IS NULL OR request_hash IS NOT NULL AND created_at < $forgotten_before) RETURNING 1)
  INSERT INTO api_keys (hash, merchant_id, created_at, request_hash, salt)
  SELECT hash, merchant_id, created_at, request_hash, salt
  FROM json_populate_recordset(NULL::api_keys, $api_keys), (SELECT count(*) FROM ended) AS done`,
}
const COLLISIONS = ['api_keys_active', 'api_keys_merchant_id_request_hash_key']
const LOOKUP_MAX = 200
const LOOKUP_TIMEOUT_MS = 8_000
const ROTATE_ATTEMPTS_MAX = 20
const REQUEST_KEPT_MS = 7 * 86_400_000

export function apiKeyStore(database: Database, prisma: PrismaClient, { now }: { now: () => Date }) {
  const forgottenBefore = () => new Date(now().getTime() - REQUEST_KEPT_MS)

  /** The salt of the key that this request was answered with; null when it is new. */
  const saltOf = async (merchantId: string, idempotencyKey: string): Promise<Uint8Array | null> => {
    const row = await prisma.apiKey.findUnique({
      where: { merchantId_requestHash: { merchantId, requestHash: hashOf(idempotencyKey) }, createdAt: { gte: forgottenBefore() } },
    })
    return row?.salt ?? null
  }
  return {
    /** The terms of the merchant whose key has this hash; null when it is unknown or revoked. Never cached, so that a rotation counts at once. */
    terms: createBatch(
      LOOKUP_MAX,
      async (hashes: readonly Buffer[]): Promise<(MerchantTerms | null)[]> => {
        const { rows } = await database.query<MerchantTerms & { hash: string }>({ name: 'terms-by-key', text: TERMS_BY_KEY }, [hashes])
        const found = new Map(rows.map(({ hash, ...terms }) => [hash, terms]))
        return hashes.map(hash => found.get(hash.toString('hex')) ?? null)
      },
      LOOKUP_TIMEOUT_MS,
    ),
    saltOf,

    /** Revokes the current key and activates this one. False, with nothing changed, when the same request has done it already. */
    async rotate(merchantId: string, hash: Buffer, actor: Actor, request: RotationRequest | null): Promise<boolean> {
      for (let attempt = 1; ; attempt++) {
        const at = now()
        const key = { hash, merchant_id: merchantId, created_at: at }
        const repeatable = request && { request_hash: hashOf(request.idempotencyKey), salt: request.salt }
        const audit = auditRecordOf(auditEntry(merchantId, actor, 'api_key.rotate', ['api_key'], at))
        try {
          await database.commit({
            write: ROTATE,
            rows: { api_keys: [{ ...key, ...repeatable }], audit_log: [audit] },
            values: { merchant_id: merchantId, at, forgotten_before: forgottenBefore() },
          })
          return true
        } catch (error) {
          // Concurrent rotations collide at the active key, or at the request itself; the later one is tried again.
          if (!COLLISIONS.some(key => isUniqueViolation(error, key))) throw error
          if (request && (await saltOf(merchantId, request.idempotencyKey))) return false
          if (attempt === ROTATE_ATTEMPTS_MAX) throw error
        }
      }
    },
  }
}

const hashOf = (idempotencyKey: string) => new Uint8Array(createHash('sha256').update(idempotencyKey).digest())
