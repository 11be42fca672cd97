/** Where a merchant was paid from a version of theirs on; null where they had no address. */
export interface PayoutAddress {
  merchantId: string
  merchantVersion: number
  payoutAddress: string | null
  /** Named for one network, by its number. */
  ofNetworks: Readonly<Record<string, string>>
  since: Date
}

/** A payout address with the time in which it was one: from `from` on and before `to`, which is null for the present one. */
export interface PayoutSpan {
  payoutAddress: string
  from: Date
  to: Date | null
}

/** A span with what the key of its address signed for this merchant (EIP-191); null of one that nothing was signed for. */
export interface ProvenSpan extends PayoutSpan {
  proof: { message: string; signature: string; signed_at: string } | null
}

/**
 * When each payout address of one merchant was theirs, by the order of versions; what is the same address in a row is one span. Times of blocks are whole
 * seconds, so a span begins with the second in which the address was named. On a network, or on those for which none of its own was ever named.
 */
export function payoutSpans(addresses: readonly PayoutAddress[], chainId: number | null = null): PayoutSpan[] {
  const byVersion = addresses
    .toSorted((a, b) => a.merchantVersion - b.merchantVersion)
    .map(one => ({ ...one, payoutAddress: one.ofNetworks[chainId ?? ''] ?? one.payoutAddress }))
  const changes = byVersion.filter(({ payoutAddress }, index) => payoutAddress !== byVersion[index - 1]?.payoutAddress)
  const spans: PayoutSpan[] = []
  for (const [index, { payoutAddress, since }] of changes.entries()) {
    if (payoutAddress === null) continue
    const second = Math.floor(since.getTime() / 1000) * 1000
    const before = spans.findLast(span => span.payoutAddress === payoutAddress)?.to?.getTime() ?? second
    spans.push({ payoutAddress, from: new Date(Math.max(second, before)), to: changes[index + 1]?.since ?? null })
  }
  return spans
}

/** The spans on one network; with null, those on all networks but these. */
export interface PayoutPlace {
  chainId: number | null
  except: readonly number[]
  spans: readonly PayoutSpan[]
}

export function payoutPlaces(addresses: readonly PayoutAddress[]): PayoutPlace[] {
  const own = [...new Set(addresses.flatMap(({ ofNetworks }) => Object.keys(ofNetworks)))].map(Number)
  return [
    { chainId: null, except: own, spans: payoutSpans(addresses) },
    ...own.map(chainId => ({ chainId, except: [], spans: payoutSpans(addresses, chainId) })),
  ]
}

/**
 * The spans on one network, and of addresses that never were the merchant's there those on other ones: what came on a network that an order did not offer reached
 * the address of its first.
 */
export function spansReached(addresses: readonly PayoutAddress[], chainId: number): readonly PayoutSpan[] {
  return payoutPlaces(addresses).reduce<readonly PayoutSpan[]>(
    (found, { spans }) => found.concat(spans.filter(({ payoutAddress }) => !found.some(known => known.payoutAddress === payoutAddress))),
    payoutSpans(addresses, chainId),
  )
}

/** Null is without an end. */
export interface Gap {
  payoutAddress: string
  from: Date | null
  to: Date | null
}

/** When each of these addresses was not the merchant's. */
export function gapsOf(spans: readonly PayoutSpan[], addresses: Iterable<string> = []): Gap[] {
  const ofAddress = Map.groupBy(spans, ({ payoutAddress }) => payoutAddress)
  return [...new Set([...addresses, ...ofAddress.keys()])].flatMap(payoutAddress => {
    const theirs = ofAddress.get(payoutAddress) ?? []
    if (theirs.length === 0) return [{ payoutAddress, from: null, to: null }]
    const ends = [null, ...theirs.map(({ to }) => to)]
    const gaps: Gap[] = theirs.map(({ from }, index) => ({ payoutAddress, from: ends[index] ?? null, to: from }))
    const last = ends.at(-1) ?? null
    return last === null ? gaps : [...gaps, { payoutAddress, from: last, to: null }]
  })
}
