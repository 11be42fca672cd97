import { Signature } from 'ethers/crypto'
import { verifyMessage } from 'ethers/hash'

/** The signature in its usual form, if the key of this address signed the text (EIP-191, `personal_sign`); else null. Contracts cannot. */
export function signatureBy(address: string, text: string, signature: string): string | null {
  try {
    return verifyMessage(text, signature) === address ? Signature.from(signature).serialized : null
  } catch {
    return null
  }
}
