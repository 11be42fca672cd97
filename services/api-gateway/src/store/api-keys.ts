import { createHash } from 'node:crypto'
import type { MerchantTerms } from '@ponte/contracts'
import { createBatch, type Database } from '@ponte/service-kit'
import { Prisma, type PrismaClient } from '../generated/client'
import { type Actor, auditEntry } from './audit-log'

/** A rotation that a client can repeat: its Idempotency-Key, and the salt of the key that was derived for it. */
export interface RotationRequest {
  idempotencyKey: string
  salt: Uint8Array
}

// Raw, because it is on the path of every request with a key: the hashes of concurrent requests share one round trip.
const TERMS_BY_KEY = `
  SELECT encode(k.hash, 'hex') AS hash, m.id AS merchant_id, m.version, m.display_name, m.payout_address
  FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ANY($1::bytea[]) AND k.revoked_at IS NULL`
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
        const key = { hash: new Uint8Array(hash), merchantId, createdAt: at }
        const repeatable = request && { requestHash: hashOf(request.idempotencyKey), salt: new Uint8Array(request.salt) }
        try {
          await prisma.$transaction([
            prisma.apiKey.updateMany({
              where: { merchantId, createdAt: { lt: forgottenBefore() } },
              data: { requestHash: null, salt: null },
            }),
            prisma.apiKey.updateMany({ where: { merchantId, revokedAt: null }, data: { revokedAt: at } }),
            prisma.apiKey.create({ data: { ...key, ...repeatable } }),
            prisma.auditEntry.create({ data: auditEntry(merchantId, actor, 'api_key.rotate', ['api_key'], at) }),
          ])
          return true
        } catch (error) {
          // Concurrent rotations collide at the index api_keys_active, or at the request itself; the later one is tried again.
          if (!isDuplicate(error)) throw error
          if (request && (await saltOf(merchantId, request.idempotencyKey))) return false
          if (attempt === ROTATE_ATTEMPTS_MAX) throw error
        }
      }
    },
  }
}

const hashOf = (idempotencyKey: string) => new Uint8Array(createHash('sha256').update(idempotencyKey).digest())
const isDuplicate = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
