import type { ChargeRequested, MerchantTerms } from '@ponte/contracts'

/** When a subscription's charge may still become an order: pure, time handed in. */

/** An order that a payer could no longer use is not opened: less than this, or half its life, is left. */
const USEFUL_LIFE_MS = 300_000

/** A charge that was asked for, and the instant at which its order ends. */
export interface WantedCharge {
  request: ChargeRequested
  endsAt: Date
}

/** A publisher of the release before names a life, which is counted from when it asked, and not from when it is read. */
export const wantedCharge = (request: ChargeRequested, occurredAt: string): WantedCharge => ({
  request,
  endsAt: new Date(request.expires_at ?? Date.parse(occurredAt) + request.expires_in * 1000),
})

export const hasLapsed = ({ request, endsAt }: WantedCharge, at: Date): boolean =>
  endsAt.getTime() - at.getTime() < Math.min(USEFUL_LIFE_MS, (request.expires_in * 1000) / 2)

/**
 * The newer of what the requester knew and what is known here. An address that the merchant took away is never paid: without one the charge waits. Networks
 * and addresses of theirs that the requester does not know are those known here.
 */
export function newestTerms(request: MerchantTerms, known: MerchantTerms | null): MerchantTerms {
  if (known === null) return request
  if (known.version > request.version) return known
  const { chain_ids = known.chain_ids, payout_addresses = known.payout_addresses } = request
  return { ...request, chain_ids, payout_addresses }
}
