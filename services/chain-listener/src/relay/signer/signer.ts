import type { SignatureLike } from 'ethers'

/** Signs for one account. Where its key lives is its own affair. */
export interface Signer {
  /** With a checksum. May be asked of another machine the first time, and then throws while that cannot be reached. */
  address(): Promise<string>
  /** Signs 32 bytes, 0x and 64 hex, as a transaction wants it: s in the lower half, and the parity of y. */
  sign(digest: string): Promise<SignatureLike>
}
