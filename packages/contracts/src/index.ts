export * from './api/account/access'
export * from './api/account/audit'
export * from './api/account/mail'
export * from './api/account/member'
export * from './api/attention'
export * from './api/authorization'
export * from './api/branding'
export * from './api/delivery'
export * from './api/event'
export * from './api/list'
export * from './api/merchant'
export * from './api/order'
export * from './api/order-list'
export * from './api/overview'
export * from './api/subscription'
export * from './api/summary'
export * from './api/webhook-endpoint'
export * from './destination'
export * from './errors'
export * from './events'
export type {
  AuthorizationChanged,
  ChainAdvanced,
  ChainAudited,
  ChainPayment,
  ChainSweep,
  DepositBlocked,
  DepositSynced,
} from './events/chain-listener'
export type { OrderReceived, OrderUpdated } from './events/orders'
export type { ChargeRequested, SubscriptionClosed } from './events/subscriptions'
export * from './fields'
export * from './internal-api'
export * from './money'
export * from './return-url'
export * from './subjects'
export * from './webhook'
