import { computeAddress, SigningKey } from 'ethers'
import type { Signer } from './signer'

/** Signs with a key that this process holds. */
export function keySigner(privateKey: string): Signer {
  const key = new SigningKey(privateKey)
  const address = computeAddress(key.publicKey)
  return { address: async () => address, sign: async digest => key.sign(digest) }
}
