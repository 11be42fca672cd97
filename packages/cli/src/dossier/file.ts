import { createHash, createPublicKey, verify } from 'node:crypto'

/** A public key of an installation, by its thumbprint. */
export type DossierKeyring = ReadonlyMap<string, string>

/** The public keys of a JWK Set. Its own names for them are not believed. Throws on what is none. */
export function keyringOf(json: string): DossierKeyring {
  const { keys } = JSON.parse(json) as { keys?: unknown }
  if (!Array.isArray(keys)) throw new Error('not a JWK Set')
  const found = keys.flatMap((key): [string, string][] => {
    const { kty, crv, x } = Object(key) as Record<string, unknown>
    return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && /^[\w-]{43}$/.test(x) ? [[thumbprint(x), x]] : []
  })
  return new Map(found)
}

const thumbprint = (x: string) =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')

export interface SignedContent {
  dossier: unknown
  kid: string
  form: 'json' | 'pdf'
}

const PDF = '%PDF-'
const SIGNATURE_LINE = /^%ponte-signature:([\w-]{43})\.([\w-]{86})\n$/
const DOSSIER_LINE = '\n%ponte-dossier:'
/** `%ponte-signature:`, a thumbprint, a point, a signature and the end of the line. */
const SIGNATURE_LENGTH = 17 + 43 + 1 + 86 + 1

/** The signed dossier in a file, JSON or PDF. Every byte of it is part of what is signed, or has one form alone. Throws where anything is otherwise. */
export function openSigned(bytes: Uint8Array, keys: DossierKeyring): SignedContent {
  const file = Buffer.from(bytes)
  if (file.subarray(0, PDF.length).toString('latin1') !== PDF) return { ...openJson(file, keys), form: 'json' }
  const body = file.subarray(0, Math.max(0, file.length - SIGNATURE_LENGTH))
  const line = SIGNATURE_LINE.exec(file.subarray(body.length).toString('latin1'))
  if (!line) throw new Error('the PDF does not end with a signature')
  requireSignature(body, String(line[1]), String(line[2]), keys)
  const start = body.lastIndexOf(DOSSIER_LINE)
  const end = body.indexOf('\n', start + DOSSIER_LINE.length)
  if (start < 0 || end < 0) throw new Error('the PDF holds no dossier')
  const inside = body.subarray(start + DOSSIER_LINE.length, end).toString('latin1')
  return { ...openJson(Buffer.from(inside, 'base64url'), keys), form: 'pdf' }
}

function openJson(file: Buffer, keys: DossierKeyring): Omit<SignedContent, 'form'> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(file)
  const { dossier, signature } = Object(JSON.parse(text)) as { dossier?: unknown; signature?: unknown }
  const { kid, value } = Object(signature) as { kid?: unknown; value?: unknown }
  if (typeof kid !== 'string' || typeof value !== 'string') throw new Error('the file has no signature')
  // Whatever stands in the file beside that, or in another form, is not what was written.
  if (JSON.stringify({ dossier, signature: { alg: 'Ed25519', kid, value } }) !== text)
    throw new Error('the file is not, byte for byte, what its content is written as')
  requireSignature(Buffer.from(JSON.stringify(dossier)), kid, value, keys)
  return { dossier, kid }
}

function requireSignature(bytes: Uint8Array, kid: string, value: string, keys: DossierKeyring): void {
  const x = keys.get(kid)
  if (x === undefined) throw new Error(`it is signed with the key ${kid}, which is none of the installation's`)
  const signature = Buffer.from(value, 'base64url')
  // The last character holds bits that are part of no byte.
  if (signature.length !== 64 || signature.toString('base64url') !== value) throw new Error('the signature is malformed')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  if (!verify(null, bytes, key, signature)) throw new Error('the signature does not fit: something in the file was changed')
}
