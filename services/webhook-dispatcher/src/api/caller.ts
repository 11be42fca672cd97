import { ApiError, type Caller, type MerchantTerms } from '@ponte/contracts'

/** The credential may also replace the secrets. */
export const maySeeSecrets = (caller: Caller): boolean => caller.kind === 'merchant' && caller.may_see_secrets === true

/** The row, when it is this merchant's. */
export function owned<T extends { merchantId: string }>(row: T | null, terms: MerchantTerms, what: string): T {
  if (!row) throw new ApiError('not_found', `There is no ${what}.`)
  if (row.merchantId !== terms.merchant_id) throw new ApiError('forbidden', `The ${what} belongs to another merchant.`)
  return row
}
