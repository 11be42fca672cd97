import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const VERSION = 'v1'

/**
 * Seals a secret with AES-256-GCM for storage and transport. `key` is 64 hex characters; `context` binds the sealed text to its owner,
 * so that one owner's sealed secret cannot be put in another's place.
 */
export function seal(plain: string, key: string, context: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'hex'), iv)
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return [VERSION, iv, cipher.getAuthTag(), body].map(part => (typeof part === 'string' ? part : part.toString('base64url'))).join('.')
}

/** Opens what `seal` made. Throws when key, context or text differ in a single bit. */
export function unseal(sealed: string, key: string, context: string): string {
  const [version, iv, tag, body, ...rest] = sealed.split('.')
  if (version !== VERSION || !iv || !tag || body === undefined || rest.length > 0) throw new Error('This is not a sealed secret.')
  // Base64 can spell the same bytes in several ways; only the one that `seal` wrote is accepted.
  for (const part of [iv, tag, body]) {
    if (Buffer.from(part, 'base64url').toString('base64url') !== part) throw new Error('This is not a sealed secret.')
  }
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'hex'), Buffer.from(iv, 'base64url'), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(Buffer.from(tag, 'base64url'))
  return Buffer.concat([decipher.update(Buffer.from(body, 'base64url')), decipher.final()]).toString('utf8')
}
