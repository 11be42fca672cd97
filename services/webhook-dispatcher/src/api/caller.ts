import { ApiError, type Caller, id, type MerchantTerms, termsOf } from '@ponte/contracts'
import { z } from 'zod'

export const pathId = z.object({ id })

/** The merchant that the gateway named. */
export const merchantOf = (res: { locals: Record<string, unknown> }): MerchantTerms => termsOf(res.locals.caller as Caller)

/** The credential may also replace the secrets. */
export const maySeeSecrets = (res: { locals: Record<string, unknown> }): boolean => {
  const caller = res.locals.caller as Caller
  return caller.kind === 'merchant' && caller.may_see_secrets === true
}

/** The row, when it is this merchant's. */
export function owned<T extends { merchantId: string }>(row: T | null, terms: MerchantTerms, what: string): T {
  if (!row) throw new ApiError('not_found', `There is no ${what}.`)
  if (row.merchantId !== terms.merchant_id) throw new ApiError('forbidden', `The ${what} belongs to another merchant.`)
  return row
}
