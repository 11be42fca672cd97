import { ApiError } from '@ponte/contracts'
import { merchantCaller } from '../credentials'
import type { Owner } from '../owners'
import { type Merchant, termsOf } from './merchant'

/**
 * Asks orders, which knows the chain, whether money can be paid out to the merchant's address, and whether a contract stands there. Throws
 * `payout_address_refused` with its reason, or `service_unavailable`: an address that could not be checked is not stored.
 */
export async function vetPayoutAddress(orders: Owner, merchant: Merchant): Promise<Merchant> {
  if (merchant.payoutAddress === null) return { ...merchant, payoutIsContract: false }
  const path = `/api/v1/payout-addresses/${merchant.payoutAddress}`
  const { status, body } = await orders.ask(merchantCaller(termsOf(merchant)), { method: 'GET', path })
  const { code, detail, is_contract } = Object(JSON.parse(body.toString('utf8')))
  if (status === 200) return { ...merchant, payoutIsContract: is_contract === true }
  if (code === 'payout_address_refused') throw new ApiError('payout_address_refused', String(detail))
  throw new ApiError('service_unavailable', 'The payout address cannot be checked at the moment; try again shortly.', { retryAfterS: 2 })
}
