import { createPublicKey, verify } from 'node:crypto'
import type { Dossier } from '@ponte/contracts'
import { dossierSigner, publicJwk, signedFile } from './signing'

// RFC 8032, 7.1, test 1; its thumbprint is that of RFC 8037, A.3.
const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
const X = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'

test('the key is the one of its seed, and named by its thumbprint', () => {
  const { jwk, kid } = dossierSigner(SEED)
  expect([jwk.x, kid]).toEqual([X, 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'])
  expect(publicJwk(X)).toEqual(jwk)
})

test('the file holds what is signed as it is signed, and is the same whichever replica writes it', () => {
  const signer = dossierSigner(SEED)
  const dossier = { object: 'dossier', id: 'ação' } as unknown as Dossier
  const file = signedFile(dossier, signer)
  expect(file).toEqual(signedFile(dossier, signer))
  const { signature } = JSON.parse(file.toString())
  expect(file.toString()).toBe(JSON.stringify({ dossier, signature }))
  const key = createPublicKey({ key: { ...signer.jwk }, format: 'jwk' })
  expect(verify(null, Buffer.from(JSON.stringify(dossier)), key, Buffer.from(signature.value, 'base64url'))).toBe(true)
})
