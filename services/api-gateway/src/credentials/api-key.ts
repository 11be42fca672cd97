import { createHash, hkdfSync } from 'node:crypto'
import { apiKey, keyPrefixOf, type Mode } from '@ponte/contracts'

/** Specification, API keys: a prefix and 64 hex characters, 256 bits of entropy. */
export const API_KEY_ENTROPY_BYTES = 32

export interface MintedKey {
  /** Shown to the merchant once and kept nowhere. */
  plain: string
  hash: Buffer
}

/** Makes a key of 32 bytes from the CSPRNG. Throws RangeError on any other length. */
export function mintApiKey(entropy: Uint8Array, mode: Mode): MintedKey {
  if (entropy.length !== API_KEY_ENTROPY_BYTES) throw new RangeError(`An API key needs ${API_KEY_ENTROPY_BYTES} bytes of entropy.`)
  const plain = `${keyPrefixOf(mode)}${Buffer.from(entropy).toString('hex')}`
  return { plain, hash: hashApiKey(plain) }
}

/** A request with an Idempotency-Key is shown its key again for so long: enough for what was lost on the way. */
export const KEY_SHOWN_AGAIN_MS = 3_600_000

/** A key is derived from these beside a salt: the first of the secrets, and the request. */
export interface DerivationSource {
  mode: Mode
  secrets: readonly string[]
  merchantId: string
  idempotencyKey: string
}

/** Kept of a derived key instead of the key. */
export interface DerivedFrom {
  salt: Uint8Array
  hash: Uint8Array
}

/**
 * The key of a repeatable request. The same request gives the same key again, and no copy of the key is kept: what the database holds (`salt`, for an hour)
 * is of no use without the service's secret, the user's id and the client's own Idempotency-Key.
 */
export const deriveApiKey = ({ secrets: [secret = ''], ...source }: DerivationSource, salt: Uint8Array): MintedKey =>
  mintApiKey(
    new Uint8Array(
      hkdfSync('sha256', Buffer.from(secret, 'hex'), salt, `api-key ${source.merchantId} ${source.idempotencyKey}`, API_KEY_ENTROPY_BYTES),
    ),
    source.mode,
  )

/** The key that the request was answered with, by whichever of the secrets it was derived: the first may be another one by now. */
export function deriveApiKeyAgain(source: DerivationSource, { salt, hash }: DerivedFrom): MintedKey {
  const keys = source.secrets.map(secret => deriveApiKey({ ...source, secrets: [secret] }, salt))
  const found = keys.find(key => key.hash.equals(hash))
  if (!found) throw new Error('The API key was derived by a SEAL_KEY that is not among ours any more.')
  return found
}

/** SHA-256 is enough here: what is hashed has 256 bits of entropy, so there is nothing to guess. */
export const hashApiKey = (plain: string): Buffer => createHash('sha256').update(plain, 'utf8').digest()
/** Of what is looked up by its hash, as the database's client takes it. */
export const hashOf = (text: string) => new Uint8Array(hashApiKey(text))

export const isApiKey = (text: string): boolean => apiKey.safeParse(text).success
