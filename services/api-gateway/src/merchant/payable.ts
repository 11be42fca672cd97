import { ApiError } from '@ponte/contracts'
import { merchantCaller } from '../credentials'
import type { Owner } from '../owners'
import { type Merchant, termsOf } from './merchant'

/**
 * Asks orders, which knows the chain, whether money can be paid out to the merchant's address. Throws `payout_address_refused` with its reason, or
 * `service_unavailable`: an address that could not be checked is not stored.
 */
export async function requirePayable(orders: Owner, merchant: Merchant): Promise<void> {
  if (merchant.payoutAddress === null) return
  const path = `/api/v1/payout-addresses/${merchant.payoutAddress}`
  const { status, body } = await orders.ask(merchantCaller(termsOf(merchant)), { method: 'GET', path })
  if (status === 200) return
  const { code, detail } = Object(JSON.parse(body.toString('utf8')))
  if (code === 'payout_address_refused') throw new ApiError('payout_address_refused', String(detail))
  throw new ApiError('service_unavailable', 'The payout address cannot be checked at the moment; try again shortly.', { retryAfterS: 2 })
}
