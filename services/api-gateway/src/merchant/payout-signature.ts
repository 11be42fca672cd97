import { verifyMessage } from 'ethers/hash'

/** Whether the key of this address signed the text (EIP-191, `personal_sign`). Contracts cannot. */
export function isSignedBy(address: string, text: string, signature: string): boolean {
  try {
    return verifyMessage(text, signature) === address
  } catch {
    return false
  }
}
