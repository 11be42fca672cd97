import { readFileSync } from 'node:fs'
import { keySigner } from './key-signer'
import { kmsSigner } from './kms-signer'
import type { Signer } from './signer'

/** Where the key of an account comes from: at most one of the three. */
export interface SignerSource {
  privateKey: string | undefined
  keyFile: string | undefined
  kmsKey: string | undefined
}

export const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/

/** The signer of an account; undefined when no key is named. Throws when the file cannot be read or holds no key, and never shows what it holds. */
export function openSigner(source: SignerSource, kms: { region: string | undefined; endpoint: string | undefined }): Signer | undefined {
  if (source.kmsKey !== undefined) return kmsSigner({ keyId: source.kmsKey, ...kms })
  const privateKey = source.keyFile === undefined ? source.privateKey : readKey(source.keyFile)
  return privateKey === undefined ? undefined : keySigner(privateKey)
}

function readKey(path: string): string {
  const text = readFileSync(path, 'utf8').trim()
  const key = text.startsWith('0x') ? text : `0x${text}`
  if (!PRIVATE_KEY.test(key)) throw new Error(`${path} holds no private key: 64 hex characters are expected.`)
  return key
}
