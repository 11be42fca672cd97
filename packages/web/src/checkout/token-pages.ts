import { LinkPage } from './link/link-page'
import { ReceiptPage } from './receipt/receipt-page'
import { RefundPage } from './refund/refund-page'
import { SubscriptionPage } from './subscription/subscription-page'

/** Pages other than an invoice, by the word before the last part of their link. */
export const pageOf = (word: string) => ({ refund: RefundPage, receipt: ReceiptPage, link: LinkPage })[word] ?? SubscriptionPage
