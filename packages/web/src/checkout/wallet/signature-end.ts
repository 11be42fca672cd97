const LIFE_S = 3600n
/** A signature that ends sooner may end before it is mined, and is not taken. */
const LIFE_MIN_S = 90n

interface SignatureTimes {
  /** The time of the latest block. */
  blockTime: bigint
  /** When the order's time is up: the token refuses the signature after it, so that no payment can come late. */
  expiresAt: bigint
  /** The end of the signature that failed before, if one did. */
  failed: bigint | null
}

/**
 * Until when a signature can be submitted; null when too little time is left. Never the end of the one that failed: the same terms give the
 * same signature, which is not taken a second time.
 */
export function signatureEnd({ blockTime, expiresAt, failed }: SignatureTimes): bigint | null {
  const latest = expiresAt < blockTime + LIFE_S ? expiresAt : blockTime + LIFE_S
  const end = latest === failed ? latest - 1n : latest
  return end < blockTime + LIFE_MIN_S ? null : end
}
