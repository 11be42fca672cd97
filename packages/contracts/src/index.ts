export * from './api/account/access'
export * from './api/account/audit'
export * from './api/account/mail'
export * from './api/account/member'
export * from './api/account/session'
export * from './api/account/waiting-change'
export * from './api/attention'
export * from './api/authorization'
export * from './api/branding'
export * from './api/checkpoint'
export * from './api/cursor'
export * from './api/customer'
export * from './api/delivery'
export * from './api/dossier'
export * from './api/entry'
export * from './api/event'
export * from './api/explanation'
export * from './api/export'
export * from './api/fiscal-document'
export * from './api/link'
export * from './api/list'
export * from './api/merchant'
export * from './api/network'
export * from './api/order'
export * from './api/order-list'
export * from './api/overview'
export * from './api/recovery'
export * from './api/refund'
export * from './api/subscription/payer-subscription'
export * from './api/subscription/subscription'
export * from './api/summary'
export * from './api/testing'
export * from './api/webhook-endpoint'
export { type AddressPolicy, type AddressRange, addressRange, isAddressAllowed, parseAddress, parseRange } from './destination/address'
export { refuseStaticHeaders } from './destination/static-headers'
export { type Destination, namesInternalHost, vetWebhookUrl } from './destination/webhook-url'
export * from './errors'
export * from './events'
export type {
  AuthorizationChanged,
  BlockPayment,
  BlockSweep,
  ChainAudited,
  ChainBlocks,
  DepositBlocked,
  PayoutWatched,
  RecoveryObserved,
  RefundObserved,
} from './events/chain-listener'
export { chainIdOf, depositBlockReason, NO_MEMO, paymentId } from './events/chain-listener'
export type {
  ChainFollowed,
  DepositWatch,
  OrderReceived,
  OrderUpdated,
  PayoutWatch,
  RecoveryWatch,
  RefundClaimCodeIssued,
  RefundWatch,
} from './events/orders'
export { type ChargeRequested, type NamedCustomer, namedCustomer, type SubscriptionClosed } from './events/subscriptions'
export * from './fields'
export { type FiscalKind, groupedFiscalKey } from './fiscal-key'
export * from './internal-api'
export * from './mode'
export * from './money'
export * from './operations'
export * from './return-url'
export * from './subjects'
export { formatTaxId } from './tax-id'
export * from './webhook'
