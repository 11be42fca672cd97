import { formatNullableUsdc } from '@ponte/contracts'
import { createBatch, type Database, isUniqueViolation, outboxRows, type Statement, uuidv8Of } from '@ponte/service-kit'
import { type DerivedFrom, hashOf, KEY_SHOWN_AGAIN_MS } from '../credentials/api-key'
import type { KeyTerms } from '../credentials/credentials'
import type { PrismaClient } from '../generated/client'
import type { Merchant } from '../merchant/merchant'
import { ACCOUNT_ROWS, type Actor, accountChanged, accountRows, auditEntry } from './audit-log'
import type { MerchantStoreOptions } from './options'

/** A rotation that a client can repeat: its Idempotency-Key, and the salt of the key that was derived for it. */
export interface RotationRequest {
  idempotencyKey: string
  salt: Uint8Array
}

type KeyRow = Omit<KeyTerms, 'payout_addresses'> & {
  hash: string
  payout_addresses: Record<string, string> | null
  payment_tolerance_units: string | null
  refund_approval_above_units: string | null
  is_use_noted: boolean
}

// Raw SQL, because it is on the path of every request with a key: the hashes of concurrent requests share one round trip.
const TERMS_BY_KEY = `
  SELECT encode(k.hash, 'hex') AS hash, m.id AS merchant_id, m.version, m.display_name, m.payout_address, m.payment_tolerance_units, m.refund_approval_above_units, m.chain_ids, m.payout_addresses, NULL AS scopes, NULL::uuid AS key_id, m.frozen_at, false AS is_use_noted
  FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ANY($1::bytea[]) AND k.revoked_at IS NULL
  UNION ALL
  SELECT encode(k.hash, 'hex'), m.id, m.version, m.display_name, m.payout_address, m.payment_tolerance_units, m.refund_approval_above_units, m.chain_ids, m.payout_addresses, k.scopes, k.id, m.frozen_at, coalesce(k.last_used_at > $2::timestamptz - interval '1 minute', false)
  FROM named_keys k JOIN merchants m ON m.id = k.merchant_id
  WHERE k.hash = ANY($1::bytea[]) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)`

// Raw SQL, so that no lock is held over a round trip. The join makes the new key wait for the old one's end; old requests are forgotten on the way.
const ROTATE: Statement = {
  name: 'api-key-rotate',
  text: `
  WITH ${ACCOUNT_ROWS},
  ended AS (
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, $at),
      request_hash = CASE WHEN created_at >= $forgotten_before THEN request_hash END,
      salt = CASE WHEN created_at >= $forgotten_before THEN salt END
    WHERE merchant_id = $merchant_id AND (revoked_at IS NULL OR request_hash IS NOT NULL AND created_at < $forgotten_before) RETURNING 1)
  INSERT INTO api_keys (hash, merchant_id, created_at, request_hash, salt)
  SELECT hash, merchant_id, created_at, request_hash, salt
  FROM json_populate_recordset(NULL::api_keys, $api_keys), (SELECT count(*) FROM ended) AS done`,
}
const FORGET = 'UPDATE api_keys SET request_hash = NULL, salt = NULL WHERE request_hash IS NOT NULL AND created_at < $1'
const COLLISIONS = ['api_keys_active', 'api_keys_merchant_id_request_hash_key']
const LOOKUP_MAX = 200
const LOOKUP_TIMEOUT_MS = 8_000
const ROTATE_ATTEMPTS_MAX = 20

export function apiKeyStore(database: Database, prisma: PrismaClient, options: MerchantStoreOptions) {
  const { now, committed } = options
  const forgottenBefore = () => new Date(now().getTime() - KEY_SHOWN_AGAIN_MS)

  /** Source of the key that answered this request; null when it is new. */
  const derivedFrom = async (merchantId: string, idempotencyKey: string): Promise<DerivedFrom | null> => {
    const row = await prisma.apiKey.findUnique({
      where: { merchantId_requestHash: { merchantId, requestHash: hashOf(idempotencyKey) }, createdAt: { gte: forgottenBefore() } },
    })
    return row?.salt ? { salt: row.salt, hash: row.hash } : null
  }
  /** Once a minute for each key, so that reading does not become writing. */
  const noteUse = async (hashes: Buffer[], at: Date) => {
    if (hashes.length > 0) await database.query('UPDATE named_keys SET last_used_at = $2 WHERE hash = ANY($1::bytea[])', [hashes, at])
  }
  return {
    /** The terms of the merchant whose key has this hash; null when it is unknown, revoked or expired. Never cached, so that a rotation counts at once. */
    terms: createBatch(
      LOOKUP_MAX,
      async (hashes: readonly Buffer[]): Promise<(KeyTerms | null)[]> => {
        const at = now()
        const { rows } = await database.query<KeyRow>({ name: 'terms-by-key', text: TERMS_BY_KEY }, [hashes, at])
        await noteUse(
          rows.flatMap(({ hash, scopes, is_use_noted }) => (scopes && !is_use_noted ? [Buffer.from(hash, 'hex')] : [])),
          at,
        )
        const found = new Map(
          rows.map(({ hash, is_use_noted, payment_tolerance_units, refund_approval_above_units, payout_addresses, ...terms }) => [
            hash,
            {
              ...terms,
              ...{ payment_tolerance: chosen(payment_tolerance_units), refund_approval_above: chosen(refund_approval_above_units) },
              ...(payout_addresses === null ? {} : { payout_addresses }),
            },
          ]),
        )
        return hashes.map(hash => found.get(hash.toString('hex')) ?? null)
      },
      LOOKUP_TIMEOUT_MS,
    ),
    derivedFrom,

    async forgetRequests(): Promise<void> {
      await database.query(FORGET, [forgottenBefore()])
    },

    /** Revokes the current key and activates this one. False, with nothing changed, when the same request has done it already. */
    async rotate(merchant: Merchant, hash: Buffer, actor: Actor, request: RotationRequest | null): Promise<boolean> {
      const merchantId = merchant.id
      for (let attempt = 1; ; attempt++) {
        const at = now()
        const key = { hash, merchant_id: merchantId, created_at: at }
        const repeatable = request && { request_hash: hashOf(request.idempotencyKey), salt: request.salt }
        const entry = auditEntry(merchantId, actor, 'api_key.rotate', ['api_key'], at, { id: uuidv8Of(hash) })
        try {
          await database.commit({
            events: outboxRows([accountChanged(entry, merchant)], at),
            write: ROTATE,
            rows: { api_keys: [{ ...key, ...repeatable }], ...accountRows(entry, merchant, options) },
            values: { merchant_id: merchantId, at, forgotten_before: forgottenBefore() },
          })
          committed()
          return true
        } catch (error) {
          // Concurrent rotations collide at the active key, or at the request itself; the later one is tried again.
          if (!COLLISIONS.some(key => isUniqueViolation(error, key))) throw error
          if (request && (await derivedFrom(merchantId, request.idempotencyKey))) return false
          if (attempt === ROTATE_ATTEMPTS_MAX) throw error
        }
      }
    },
  }
}

const chosen = (units: string | null) => formatNullableUsdc(units === null ? null : BigInt(units))
