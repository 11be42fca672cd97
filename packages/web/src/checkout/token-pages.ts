import { RefundPage } from './refund/refund-page'
import { SubscriptionPage } from './subscription/subscription-page'

/** Pages whose link ends in a secret, by its word before. */
export const pageOf = (word: string) => (word === 'refund' ? RefundPage : SubscriptionPage)
