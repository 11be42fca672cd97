import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Dossier, DossierKeys, SignedDossier } from '@ponte/contracts'

type Jwk = DossierKeys['keys'][number]

/** The bytes before a seed of Ed25519 in PKCS #8 (RFC 8410). */
const PKCS8 = '302e020100300506032b657004220420'

export interface DossierSigner {
  kid: string
  sign(bytes: Uint8Array): string
  jwk: Jwk
}

export function dossierSigner(seed: string): DossierSigner {
  const key = createPrivateKey({ key: Buffer.from(PKCS8 + seed, 'hex'), format: 'der', type: 'pkcs8' })
  const jwk = publicJwk(publicPartOf(key))
  return { kid: jwk.kid, jwk, sign: bytes => sign(null, bytes, key).toString('base64url') }
}

const publicPartOf = (key: KeyObject): string => String(createPublicKey(key).export({ format: 'jwk' }).x)

export const publicJwk = (x: string): Jwk => ({ kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint(x), alg: 'EdDSA', use: 'sig' })

const thumbprint = (x: string) =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')

export const signedDossier = (dossier: Dossier, signer: DossierSigner): SignedDossier => ({
  dossier,
  signature: { alg: 'Ed25519', kid: signer.kid, value: signer.sign(Buffer.from(JSON.stringify(dossier))) },
})

/** The file, to the byte: what is signed stands in it as it was signed. */
export const signedFile = (dossier: Dossier, signer: DossierSigner): Buffer => Buffer.from(JSON.stringify(signedDossier(dossier, signer)))
