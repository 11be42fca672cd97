import { type AddressPolicy, formatNullableUsdc, type MerchantBody, type Mode } from '@ponte/contracts'
import { unseal } from '@ponte/service-kit'
import type { Merchant } from './merchant'
import { type PayoutChange, payoutAddressMessage, payoutMessage } from './payout-change'
import { warningsOf } from './warnings'

/** The merchant's view of itself: the only place where a sealed secret is opened. */
export function merchantBody(
  merchant: Merchant,
  { sealKeys, webhooks, mode, withSecrets }: { sealKeys: readonly string[]; webhooks: AddressPolicy; mode: Mode; withSecrets: boolean },
): MerchantBody {
  const shown = (sealed: string) => (withSecrets ? unseal(sealed, sealKeys, merchant.id) : null)
  const warnings = warningsOf(merchant, webhooks)
  return {
    object: 'merchant',
    id: merchant.id,
    livemode: mode === 'live',
    display_name: merchant.displayName,
    webhook_url: merchant.webhookUrl,
    webhook_secret: shown(merchant.sealedWebhookSecret),
    pending_webhook_secret: merchant.pending && shown(merchant.pending.sealed),
    pending_webhook_secret_activates_at: merchant.pending?.activatesAt.toISOString() ?? null,
    payout_address: merchant.payoutAddress,
    ...(merchant.payoutAddresses === null ? {} : { payout_addresses: { ...merchant.payoutAddresses } }),
    payout_proof: merchant.payoutAddress === null ? null : proofBody(merchant, merchant.payoutAddress),
    pending_payout_change: merchant.pendingPayout && payoutChangeBody(merchant.id, merchant.pendingPayout),
    payment_tolerance: formatNullableUsdc(merchant.paymentToleranceUnits),
    refund_approval_above: formatNullableUsdc(merchant.refundApprovalAboveUnits),
    chain_ids: merchant.chainIds,
    created_at: merchant.createdAt.toISOString(),
    updated_at: merchant.updatedAt.toISOString(),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
}

const proofBody = ({ id, payoutProof: proof }: Merchant, address: string) => ({
  message: proof?.message ?? payoutAddressMessage(id, address),
  signature: proof?.signature ?? null,
  signed_at: proof?.signedAt.toISOString() ?? null,
})

const payoutChangeBody = (merchantId: string, change: PayoutChange) => ({
  id: change.id,
  payout_address: change.address,
  ...(change.chainId === null ? {} : { chain_id: change.chainId }),
  requested_at: change.requestedAt.toISOString(),
  requested_by: change.requestedBy,
  activates_at: change.activatesAt.toISOString(),
  is_signed: change.isSigned,
  is_approved: change.approvedBy !== null,
  message: payoutMessage(merchantId, change),
})
