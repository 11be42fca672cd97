export { type DepositTerms, depositAddress } from './address/deposit.js'
export { checkPayout, type Payout } from './address/payout.js'
export {
  type ApiErrorCode,
  type ClientErrorCode,
  type FieldError,
  isPonteError,
  PonteError,
  type PonteErrorCode,
  type PonteErrorInit,
} from './failure.js'
export { type InOrderOptions, inOrder, type KeptCursor } from './handlers/ordered.js'
export type { List, Page } from './page.js'
export { type Credential, Ponte, type PonteOptions } from './ponte.js'
export type { Attention } from './resources/attention.js'
export type { Chain, Checkpoints } from './resources/chain.js'
export type { Entries, FollowEntriesOptions } from './resources/entries.js'
export type { Events } from './resources/events.js'
export type { Exports } from './resources/exports.js'
export type { FollowOptions } from './resources/follow.js'
export type { Links } from './resources/links.js'
export type { Audit, Deliveries, Endpoints, MerchantResource } from './resources/merchant.js'
export type { Orders } from './resources/orders.js'
export type { Refunds } from './resources/refunds.js'
export type { Subscriptions } from './resources/subscriptions.js'
export type { Testing } from './resources/testing.js'
export type * from './schemas.js'
export type { Fetch, FetchAnswer, FetchInit, RequestOptions, WriteOptions } from './transport.js'
export type { RawBody } from './webhook/body.js'
export {
  dedupeKey,
  type KnownWebhookEvent,
  type NewerWebhookEvent,
  type StoredEvent,
  type WebhookEvent,
  type WebhookType,
} from './webhook/event.js'
export { type SignedWebhook, type SignOptions, signTestWebhook } from './webhook/sign.js'
export { type HeadersLike, type StandardOptions, type StandardWebhook, verifyStandardWebhook } from './webhook/standard.js'
export { verifyWebhook } from './webhook/verify.js'
