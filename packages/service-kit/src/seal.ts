import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Without the key's id, as the release before reads it. */
const PLAIN = 'v1'
const WITH_ID = 'v2'

/**
 * Seals a secret with AES-256-GCM for storage and transport, by the first key; each is 64 hex characters. `context` binds the sealed text to its owner, so
 * that one owner's sealed secret cannot be put in another's place. The key's id is written only where there are several keys to distinguish.
 */
export function seal(plain: string, keys: readonly string[], context: string): string {
  const [key = ''] = keys
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'hex'), iv)
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  const parts = [iv, cipher.getAuthTag(), body].map(part => part.toString('base64url'))
  return [...(keys.length > 1 ? [WITH_ID, idOf(key)] : [PLAIN]), ...parts].join('.')
}

/** Opens what `seal` made with any of the keys. Throws when keys, context or text differ in a single bit. */
export function unseal(sealed: string, keys: readonly string[], context: string): string {
  const { id, iv, tag, body } = partsOf(sealed)
  const candidates = keys.filter(key => id === null || idOf(key) === id)
  for (const [index, key] of candidates.entries()) {
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'hex'), iv, { authTagLength: 16 })
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(tag)
    const opened = decipher.update(body)
    try {
      return Buffer.concat([opened, decipher.final()]).toString('utf8')
    } catch (error) {
      if (index === candidates.length - 1) throw error
    }
  }
  throw new Error(`It was sealed with a key that is not among ours (${id}).`)
}

/** The same secret sealed by the first key; the text itself when it is so already. */
export function reseal(sealed: string, keys: readonly string[], context: string): string {
  const plain = unseal(sealed, keys, context)
  const [first = ''] = keys
  return keys.length === 1 || partsOf(sealed).id === idOf(first) ? sealed : seal(plain, keys, context)
}

/** Shows nothing of 256 random bits. */
const idOf = (key: string) => createHash('sha256').update(Buffer.from(key, 'hex')).digest('hex').slice(0, 8)

function partsOf(sealed: string) {
  const [version, ...rest] = sealed.split('.')
  const id = version === WITH_ID ? (rest.shift() ?? '') : null
  const [iv, tag, body, ...more] = rest
  if ((version !== PLAIN && version !== WITH_ID) || !iv || !tag || body === undefined || more.length > 0)
    throw new Error('This is not a sealed secret.')
  const parts = { id, iv: bytesOf(iv), tag: bytesOf(tag), body: bytesOf(body) }
  if (parts.tag.length !== 16) throw new Error('This is not a sealed secret.')
  return parts
}

/** Base64 can spell the same bytes in several ways; only the one that `seal` wrote is accepted. */
function bytesOf(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  if (bytes.toString('base64url') !== part) throw new Error('This is not a sealed secret.')
  return bytes
}
