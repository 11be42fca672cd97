/** Where a merchant was paid from a version of theirs on; null where they had no address. */
export interface PayoutAddress {
  merchantId: string
  merchantVersion: number
  payoutAddress: string | null
  since: Date
}

/** A payout address with the time in which it was one by the time of blocks: from `from` on and before `to`, which is null for the present one. */
export interface PayoutSpan {
  payoutAddress: string
  from: Date
  to: Date | null
}

/** A span with what the key of its address signed for this merchant (EIP-191); null of one that nothing was signed for. */
export interface ProvenSpan extends PayoutSpan {
  proof: { message: string; signature: string; signed_at: string } | null
}

/** When each payout address of one merchant was theirs, by the order of versions; what is the same address in a row is one span. It begins with a whole second, as blocks do. */
export function payoutSpans(addresses: readonly PayoutAddress[]): PayoutSpan[] {
  const byVersion = addresses.toSorted((a, b) => a.merchantVersion - b.merchantVersion)
  const changes = byVersion.filter(({ payoutAddress }, index) => payoutAddress !== byVersion[index - 1]?.payoutAddress)
  return changes.flatMap(({ payoutAddress, since }, index) =>
    payoutAddress === null
      ? []
      : [{ payoutAddress, from: new Date(since.getTime() - (since.getTime() % 1_000)), to: changes[index + 1]?.since ?? null }],
  )
}
