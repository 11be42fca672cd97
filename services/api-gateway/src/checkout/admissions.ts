import { ApiError } from '@ponte/contracts'

export interface AdmissionLimits {
  streamsMax: number
  streamsPerAddressMax: number
  streamsPerMerchantMax: number
}

/** Bounds open streams in all, from one block of addresses, and of one merchant's orders, so that none of them takes every place. */
export function admissions({ streamsMax, streamsPerAddressMax, streamsPerMerchantMax }: AdmissionLimits) {
  const addresses = new Map<string, number>()
  const merchants = new Map<string, number>()
  let open = 0
  const take = (places: Map<string, number>, key: string, max: number) => {
    const taken = places.get(key) ?? 0
    if (taken >= max) refuse()
    places.set(key, taken + 1)
    return () => {
      const left = (places.get(key) ?? 1) - 1
      if (left > 0) places.set(key, left)
      else places.delete(key)
    }
  }
  return {
    count: () => open,
    /** Takes a place for this block of addresses; the answer gives it back. Throws `rate_limited`. */
    address(block: string): () => void {
      if (open >= streamsMax) refuse()
      const release = take(addresses, block, streamsPerAddressMax)
      open += 1
      return () => {
        open -= 1
        release()
      }
    },
    /** The same for the merchant whose order is looked at. */
    merchant: (merchantId: string): (() => void) => take(merchants, merchantId, streamsPerMerchantMax),
  }
}

function refuse(): never {
  throw new ApiError('rate_limited', 'Too many live pages are open; close some, or read the checkout without /stream.', {
    retryAfterS: 10,
  })
}
