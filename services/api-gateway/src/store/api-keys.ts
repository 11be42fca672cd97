import type { MerchantTerms } from '@ponte/contracts'
import { createBatch, type Database } from '@ponte/service-kit'
import { Prisma, type PrismaClient } from '../generated/client'
import { type Actor, auditEntry } from './audit-log'

// Raw, because it is on the path of every request with a key: the hashes of concurrent requests share one round trip.
const TERMS_BY_KEY = `
  SELECT encode(k.hash, 'hex') AS hash, m.id AS merchant_id, m.version, m.display_name, m.payout_address
  FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ANY($1::bytea[]) AND k.revoked_at IS NULL`
const LOOKUP_MAX = 200
const LOOKUP_TIMEOUT_MS = 8_000
const ROTATE_ATTEMPTS_MAX = 20

export function apiKeyStore(database: Database, prisma: PrismaClient, { now }: { now: () => Date }) {
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

    /** Revokes the current key and activates this one. */
    async rotate(merchantId: string, hash: Buffer, actor: Actor): Promise<void> {
      for (let attempt = 1; ; attempt++) {
        const at = now()
        try {
          await prisma.$transaction([
            prisma.apiKey.updateMany({ where: { merchantId, revokedAt: null }, data: { revokedAt: at } }),
            prisma.apiKey.create({ data: { hash: new Uint8Array(hash), merchantId, createdAt: at } }),
            prisma.auditEntry.create({ data: auditEntry(merchantId, actor, 'api_key.rotate', ['api_key'], at) }),
          ])
          return
        } catch (error) {
          // Concurrent rotations collide at the index api_keys_active; the later one is tried again.
          if (!isDuplicate(error) || attempt === ROTATE_ATTEMPTS_MAX) throw error
        }
      }
    },
  }
}

const isDuplicate = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
