import type { components, operations } from './artifacts/openapi.js'

type Schemas = components['schemas']
type Query<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>

/** An invoice in BRL that is settled in USDC. */
export type Order = Schemas['Order']
/** Sent by `orders.create`. */
export type CreateOrder = Schemas['CreateOrder']
/** Sent by `orders.update`. */
export type UpdateOrder = Schemas['UpdateOrder']
/** Sent by `orders.eraseCustomers`. */
export type EraseCustomers = Schemas['EraseCustomers']
/** Orders, payment links and subscriptions whose customer was erased. */
export type CustomerErasure = Schemas['CustomerErasure']
/** Sent by `orders.accept`. */
export type AcceptOrder = Schemas['AcceptOrder']
/** A page on which payers open orders. */
export type Link = Schemas['Link']
/** Sent by `links.create`. */
export type CreateLink = Schemas['CreateLink']
/** Money that does not simply settle. */
export type AttentionItem = Schemas['AttentionItem']
/** Sent by `attention.handle`. */
export type HandleAttention = Schemas['HandleAttention']
/** Sent by `attention.attach`. */
export type AttachPayment = Schemas['AttachAttention']
/** Sent by `orders.explain`. */
export type ExplainOrder = Schemas['ExplainOrder']
/** Why a transaction did or did not pay an order. */
export type Explanation = Schemas['Explanation']
/** Money that goes back from your wallet. */
export type Refund = Schemas['Refund']
/** The refunds of an order, and what may still go back. */
export type RefundList = Schemas['RefundList']
/** A link by which a payer names the address that money goes back to. */
export type RefundClaim = Schemas['RefundClaim']
/** Sent by `refunds.create`. */
export type CreateRefund = Schemas['CreateRefund']
/** Sent by `refunds.createClaim`. */
export type CreateRefundClaim = Schemas['CreateRefundClaim']
/** A token that is sent on from a deposit address to the payout address of its order. */
export type Recovery = Schemas['Recovery']
/** The latest recovery of each token at an order's deposit address. */
export type RecoveryList = Schemas['RecoveryList']
/** Sent by `orders.recover`. */
export type CreateRecovery = Schemas['CreateRecovery']
/** Sent by `refunds.sign`. */
export type SignRefund = Schemas['SignRefund']
/** One payment of an order. */
export type Payment = Schemas['Payment']
/** A payer's view by the link. */
export type Checkout = Schemas['Checkout']
/** A recurring charge that produces orders. */
export type Subscription = Schemas['Subscription']
/** Sent by `subscriptions.create`. */
export type CreateSubscription = Schemas['CreateSubscription']
/** Sent by `subscriptions.update`. */
export type UpdateSubscription = Schemas['UpdateSubscription']
/** A charge whose order is on its way; its `checkout_url` already works. */
export type PendingCharge = Schemas['PendingCharge']
/** One movement of your money. */
export type Entry = EntryPage['data'][number]
/** A page of the ledger, and the cursor behind it. */
export type EntryPage = Schemas['EntryList']
/** A hash over what was booked of some blocks, and over the checkpoint before it. */
export type Checkpoint = Schemas['CheckpointList']['data'][number]
/** A page of checkpoints, and where the next one begins. */
export type CheckpointPage = Schemas['CheckpointList']
/** The answer of `chain.networks`. */
export type NetworkList = Schemas['NetworkList']
/** Fields of an event besides `type` and `data`. */
export type EventFields = Omit<Schemas['Event'], 'type' | 'data'>
/** The merchant of the key, or of the session's user. */
export type Merchant = Schemas['Merchant']
/** Where webhooks go besides the `webhook_url`. */
export type WebhookEndpoint = Schemas['WebhookEndpoint']
/** Sent by `merchant.endpoints.create`. */
export type CreateWebhookEndpoint = Schemas['CreateWebhookEndpoint']
/** Sent by `merchant.endpoints.update`. */
export type UpdateWebhookEndpoint = Schemas['UpdateWebhookEndpoint']
/** One event on its way to one endpoint. */
export type Delivery = Schemas['Delivery']
/** A delivery with its attempts. */
export type DeliveryDetail = Schemas['DeliveryDetail']
/** Sent by `merchant.deliveries.replayAll`. */
export type ReplayDeliveries = Schemas['ReplayDeliveries']
/** The number of events of a time range that are delivered again, and the cursor to go on with. */
export type Replayed = Schemas['Replayed']
/** One change of the account, and its author. */
export type AuditEntry = Schemas['AuditEntry']
/** Sums of the ledger by period. */
export type Summary = Schemas['Summary']
/** An RFC 9457 problem, the body of every refusal. */
export type Problem = Schemas['Problem']

/** Filters and page of `orders.list`. */
export type ListOrders = Query<'listOrders'>
/** Filters and page of `links.list`. */
export type ListLinks = Query<'listLinks'>
/** Filters and page of `subscriptions.list`. */
export type ListSubscriptions = Query<'listSubscriptions'>
/** Filters and page of `attention.list`. */
export type ListAttention = Query<'listAttention'>
/** Filters and page of `events.list`; to read on from a sequence use `events.follow`. */
export type ListEvents = Omit<Query<'listEvents'>, 'after' | 'wait'>
/** Filters and page of `entries.list`; to read on from a cursor use `entries.follow`. */
export type ListEntries = Query<'listEntries'>
/** Page of `chain.checkpoints.list`. */
export type ListCheckpoints = Query<'listCheckpoints'>
/** Filters and page of `merchant.deliveries.list`. */
export type ListDeliveries = Query<'listDeliveries'>
/** Filters and page of `merchant.audit.list`. */
export type ListAudit = Query<'listAudit'>
/** Period and time zone of `entries.summary`. */
export type SummaryQuery = Query<'getSummary'>
/** Filters of `orders.export`. */
export type ExportOrders = Query<'exportOrders'>
/** A file of your ledger, and how far it is. */
export type Export = Schemas['Export']
/** Your files of the ledger, newest first. */
export type ExportList = Schemas['ExportList']
/** The answer of `exports.dossierKeys`. */
export type DossierKeys = Schemas['DossierKeys']
/** Sent by `exports.create`. */
export type CreateExport = Schemas['CreateExport']
/** Filters of `entries.export`. */
export type ExportEntries = Query<'exportEntries'>
/** Filters of `attention.export`. */
export type ExportAttention = Query<'exportAttention'>
/** Filters of `subscriptions.export`. */
export type ExportSubscriptions = Query<'exportSubscriptions'>
/** Filters of `merchant.deliveries.export`. */
export type ExportDeliveries = Query<'exportDeliveries'>
/** Filters of `merchant.audit.export`. */
export type ExportAudit = Query<'exportAudit'>

/** Bodies of webhooks, by their `type`. */
export interface WebhookBodies {
  'order.paid': Schemas['OrderPaidWebhook']
  'order.underpaid': Schemas['OrderUnderpaidWebhook']
  'order.expired': Schemas['OrderExpiredWebhook']
  'order.cancelled': Schemas['OrderCancelledWebhook']
  'subscription.charged': Schemas['SubscriptionChargedWebhook']
  'subscription.cancelled': Schemas['SubscriptionCancelledWebhook']
  'subscription.expired': Schemas['SubscriptionExpiredWebhook']
  'order.overpaid': Schemas['OrderOverpaidWebhook']
  'order.paid_late': Schemas['OrderPaidLateWebhook']
  'order.paid_after_cancel': Schemas['OrderPaidAfterCancelWebhook']
  'order.duplicate': Schemas['OrderDuplicateWebhook']
  'order.settled': Schemas['OrderSettledWebhook']
  'order.accepted': Schemas['OrderAcceptedWebhook']
  'payment.unmatched': Schemas['PaymentUnmatchedWebhook']
  'payment.attached': Schemas['PaymentAttachedWebhook']
  'refund.created': Schemas['RefundCreatedWebhook']
  'refund.confirmed': Schemas['RefundConfirmedWebhook']
  'refund.failed': Schemas['RefundFailedWebhook']
  'subscription.order_issued': Schemas['SubscriptionOrderIssuedWebhook']
  'subscription.upcoming': Schemas['SubscriptionUpcomingWebhook']
  'subscription.past_due': Schemas['SubscriptionPastDueWebhook']
  'subscription.paused': Schemas['SubscriptionPausedWebhook']
  'subscription.resumed': Schemas['SubscriptionResumedWebhook']
  'account.changed': Schemas['AccountChangedWebhook']
  'endpoint.test': Schemas['EndpointTestWebhook']
}
/** Sent by `testing.fund`. */
export type FundTestAddress = Schemas['FundTestAddress']
/** USDC of the test chain that an address was given. */
export type TestFunding = Schemas['TestFunding']
/** Sent by `testing.pay`. */
export type PayTestOrder = Schemas['PayTestOrder']
/** Payments of the sample payer. */
export type TestPayments = Schemas['TestPayments']
/** Scenarios that can be simulated. */
export type TestScenarioList = Schemas['TestScenarioList']
/** Sent by `testing.simulate`. */
export type SimulateTestOrder = Schemas['SimulateTestOrder']
/** A simulated scenario, with the events to expect. */
export type TestSimulation = Schemas['TestSimulation']
/** Sent by `testing.advance`. */
export type AdvanceTestClock = Schemas['AdvanceTestClock']
/** The clock of a deployment for tests. */
export type TestClock = Schemas['TestClock']
