import { secp256k1 } from '@noble/curves/secp256k1'
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesOf, hexOf } from './proof'

/** The address whose key signed this text (EIP-191). Throws on what is no signature. */
export function signerOf(message: string, signature: string): string {
  const bytes = bytesOf(signature.toLowerCase())
  const v = bytes[64] ?? -1
  const recovery = v >= 27 ? v - 27 : v
  if (bytes.length !== 65 || (recovery !== 0 && recovery !== 1)) throw new Error('the signature is malformed')
  const text = Buffer.from(message)
  const hash = keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]))
  const key = secp256k1.Signature.fromCompact(bytes.subarray(0, 64)).addRecoveryBit(recovery).recoverPublicKey(hash)
  return hexOf(keccak_256(key.toRawBytes(false).subarray(1)).subarray(12))
}
