import {
  ApiError,
  formatUsdc,
  invalidField,
  type MerchantTerms,
  parseNullableUsdc,
  splitFee,
  type ToleranceLimits,
  toleranceOf,
  usdcForBrl,
} from '@ponte/contracts'
import { type Destination, type Payout, payoutAddressOn } from '../payment/payment'
import type { Quote } from '../quote/quote'
import type { Order } from './order'
import { EMPTY } from './tally'

export interface NewOrder {
  id: string
  memo: string
  terms: MerchantTerms
  subscriptionId: string | null
  externalRef: string | null
  description: string | null
  metadata: Record<string, string>
  /** Where a payer is offered to go after the checkout; a subscription's order has none. */
  successUrl?: string | null
  cancelUrl?: string | null
  brlCentavos: bigint
  /** By how much it may be short; otherwise as the merchant's terms have it. */
  toleranceUnits?: bigint | null
  /** The networks that it may be paid on; all of its merchant's where none are named. */
  chainIds?: readonly number[] | undefined
  expiresAt: Date
}

/** Shared by all new orders of this deployment. */
export interface Deployment extends Omit<Destination, 'merchantAddress' | 'depositAddress'> {
  feeBps: bigint
  tolerance: ToleranceLimits
}

/**
 * A new order: priced once, judged in USDC units ever after. Its deposit address is not known here. Throws `payout_address_required`, or `invalid_request` on
 * a tolerance beyond what this order may have.
 */
export function open(input: NewOrder, quote: Quote, deployment: Deployment, at: Date): Order {
  const { terms } = input
  const { feeBps, chainId, tokenAddress, routerAddress } = deployment
  const usdcUnits = usdcForBrl(input.brlCentavos, quote.rateMicros)
  const { fee, expected } = splitFee(usdcUnits, feeBps)
  return {
    chainId,
    tokenAddress,
    routerAddress,
    depositAddress: null,
    networks: [],
    merchantAddress: payoutAddressOn(payoutOf(terms), chainId),
    merchantAddresses: {},
    id: input.id,
    merchantId: terms.merchant_id,
    merchantVersion: terms.version,
    merchantName: terms.display_name,
    status: 'pending',
    exception: null,
    subscriptionId: input.subscriptionId,
    externalRef: input.externalRef,
    description: input.description,
    metadata: input.metadata,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    brlCentavos: input.brlCentavos,
    usdcUnits,
    feeBps,
    feeUnits: fee,
    expectedUnits: expected,
    toleranceUnits: toleranceFor(input, usdcUnits, deployment.tolerance),
    ...EMPTY,
    notifiedUnits: 0n,
    rateMicros: quote.rateMicros,
    rateSource: quote.source,
    rateAsOf: quote.asOf,
    rateSpreadBps: quote.spreadBps,
    memo: input.memo,
    watchFrom: 0n,
    merchantIsContract: false,
    txHash: null,
    settledAt: null,
    expiresAt: input.expiresAt,
    paidAt: null,
    expiredAt: null,
    cancelledAt: null,
    acceptedAt: null,
    acceptedUnits: 0n,
    acceptedReason: null,
    acceptedBy: null,
    supersededAt: null,
    deductedCentavos: null,
    promisedUnits: 0n,
    withdrawnAt: null,
    createdAt: at,
    version: 1,
  }
}

/** Where the merchant is paid now. Throws `payout_address_required`. */
export function payoutOf({ payout_address: merchantAddress, payout_addresses: merchantAddresses = {} }: MerchantTerms): Payout {
  if (merchantAddress === null)
    throw new ApiError('payout_address_required', 'Set payout_address with PATCH /api/v1/merchants/me: it is where your share is sent.')
  return { merchantAddress, merchantAddresses }
}

function toleranceFor({ terms, toleranceUnits: own = null }: NewOrder, usdcUnits: bigint, limits: ToleranceLimits): bigint {
  const most = toleranceOf(usdcUnits, limits.maxUnits, limits)
  if (own !== null && own > most)
    throw invalidField('payment_tolerance', `must be at most ${formatUsdc(most)} for this order of ${formatUsdc(usdcUnits)} USDC`)
  return toleranceOf(usdcUnits, own ?? parseNullableUsdc(terms.payment_tolerance), limits)
}
