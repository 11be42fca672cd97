export { afterAttempt, afterLoss, type DeliveryResult, describeFailure, type FailureCode, type Outcome } from './delivery'
export { toWebhook, type Webhook, webhookBody } from './webhook'
