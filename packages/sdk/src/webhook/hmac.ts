import { webCrypto } from '../webcrypto.js'

const encoder = new TextEncoder()

/** UTF-8. */
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** HMAC-SHA256. */
export async function hmac(key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  const { subtle } = await webCrypto()
  const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await subtle.sign('HMAC', imported, message))
}

/** In time that depends on the lengths alone. */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0)
  return difference === 0
}

/** Lower-case hex. */
export const hex = (bytes: Uint8Array): string => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

/** Uint8Array of base64; null when it is none. */
export function fromBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  } catch {
    return null
  }
}

/** Base64 of bytes. */
export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))
