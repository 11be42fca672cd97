const BPS = 10_000n

/**
 * What a payment of `amount` token units leaves to the merchant and to the platform, exactly as the router splits it:
 * `fee = floor(amount · feeBps / 10⁴)` and `share + fee = amount`. Throws RangeError on a negative amount or a fee outside 0…10,000.
 */
export function splitFee(amount: bigint, feeBps: number): { share: bigint; fee: bigint } {
  if (amount < 0n) throw new RangeError(`amount must not be negative: ${amount}`)
  if (!Number.isInteger(feeBps) || feeBps < 0 || feeBps > 10_000)
    throw new RangeError(`feeBps must be a whole number from 0 to 10000: ${feeBps}`)
  const fee = (amount * BigInt(feeBps)) / BPS
  return { share: amount - fee, fee }
}
