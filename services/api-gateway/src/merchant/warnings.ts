import { type AddressPolicy, namesInternalHost, vetWebhookUrl } from '@ponte/contracts'
import type { Merchant } from './merchant'

const INTERNAL_URL =
  'webhook_url names an internal address: deliveries to it are refused and marked dead. Use an address that the internet can reach.'
const CONTRACT_PAYOUT =
  'payout_address is a contract, and is certain to exist on the network of your orders only. What a payer sends on another network by mistake can reach you once your contract stands there at the same address, and is at risk until then. A wallet with a key of its own has its address on every network.'

/** Accepted values that may not work as the merchant expects. `webhooks` is what the dispatcher opens and closes beside the rule. */
export function warningsOf(merchant: Merchant, webhooks: AddressPolicy): string[] {
  const { destination } = vetWebhookUrl(merchant.webhookUrl ?? '')
  const warnings = destination && namesInternalHost(destination, webhooks) ? [INTERNAL_URL] : []
  return merchant.payoutIsContract ? [...warnings, CONTRACT_PAYOUT] : warnings
}
