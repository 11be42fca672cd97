import { c, type Section } from '../section'

/** Additions to the interface by the day that `Ponte-Version` names; newest first. */
export const changes: readonly { day: string; gained: readonly string[] }[] = [
  {
    day: '2026-11-30',
    gained: [
      `${c('chain_id')} of ${c('POST /payer/refunds/{payer_token}')}: the network that the payer was shown; where the refund is made on another one by then, it is refused.`,
      `${c('chain_id')} of ${c('POST /checkout/{order_id}/authorization')}, and of ${c('authorization')} of a checkout: a payer signs without gas on any network of the order.`,
      `${c('payout_addresses')} of ${c('PATCH /merchants/me')}: another payout address for one network, which waits as a ${c('pending_payout_change')} with its ${c('chain_id')}; orders name it as ${c('merchant_address')} of that network in their ${c('payment')}, where their deposit address is another one, too.`,
    ],
  },
  {
    day: '2026-11-29',
    gained: [
      `${c('POST /links')}, ${c('GET /links')}, ${c('GET /links/{id}')} and its ${c('/end')}: invoices and reusable links that are quoted when a payer opens them; ${c('link_id')} of ${c('GET /orders')}.`,
      `${c('chain_id')} of ${c('POST /exports')}: the network of an origin dossier, where there are several, or of the entries of another file; ${c('chain_id')} of ${c('GET /orders')}, ${c('GET /entries')}, ${c('GET /attention')} and their files: what came on one network.`,
      `${c('/button.js')} of the checkout's address: a payment link as a button on any site.`,
      `${c('networks')} of an order's ${c('payment')}, and ${c('network')} and ${c('chain_id')} of its ${c('payments')}, of refunds, recoveries and of an explanation; ${c('suspended')} of a network that stands still, ${c('GET /networks')}, ${c('chain_ids')} of ${c('PATCH /merchants/me')} and ${c('POST /orders')}: only where an order may be paid on several networks, which is in preparation.`,
    ],
  },
  {
    day: '2026-11-28',
    gained: [
      `${c('dossier_json')} and ${c('dossier_pdf')} of ${c('POST /exports')}: an origin dossier, signed, of ${c('amount')} or ${c('entries')}; ${c('GET /dossier-keys')}.`,
      `${c('POST /exports')}, ${c('GET /exports/{id}')} and its ${c('/file')}: a file of the ledger made in the background, as CSV, XLSX, JSON lines or OFX.`,
      `${c('GET /orders.csv')}: ${c('metadata')}, and ${c('rows=payments')} for a row per payment.`,
      `${c('livemode')} of merchants, orders, checkouts, subscriptions and events; keys of deployments for tests begin with ${c('sk_test_')}.`,
      `${c('POST /test/faucet')}, ${c('/test/orders/{id}/pay')}, ${c('/test/orders/{id}/simulate')} and ${c('/test/clock')}, ${c('GET /test/scenarios')} and ${c('/test/clock')}: in deployments for tests alone.`,
      `${c('PATCH /orders/{id}')}, and ${c('customer')} and ${c('fiscal_document')} of orders, entries, files and subscriptions; ${c('has_fiscal_document')} of ${c('GET /orders')}; ${c('POST /customers/erase')}.`,
      `${c('GET /chain/checkpoints')}: hashes of what was booked of the network, which anyone with a node recomputes.`,
      `${c('refund_approval_above')} of ${c('PATCH /merchants/me')}: above this sum the refunds of an order take two members; ${c('POST /refunds/{id}/approve')}, and ${c('needs_approval')}, ${c('approved_by')} and ${c('approved_at')} of a refund.`,
      `${c('refunds:write')}: refunds, claims and recoveries need it in place of ${c('orders:write')}; named keys that had that have it, and the role ${c('support')} has not.`,
      `${c('POST /orders/{id}/refund-claims')}: a link by which the payer names the address that money goes back to; ${c('claims')} of ${c('GET /orders/{id}/refunds')}, and ${c('GET')} and ${c('POST /payer/refunds/{payer_token}')} for its page. With ${c('email')} the payer needs a code as well, which ${c('POST /payer/refunds/{payer_token}/code')} has mailed.`,
      `${c('POST /orders/{id}/recoveries')}: a token that is not USDC, or the coin of the network, goes from the deposit address of an order to its payout address; ${c('foreign_token')} of ${c('GET /attention')}.`,
      `${c('GET /attention')}: ${c('text')} finds money without an order as a message quotes it; ${c('text')} of ${c('GET /orders')} finds returns and what was paid, too.`,
    ],
  },
  {
    day: '2026-11-27',
    gained: [
      `${c('POST /attention/{id}/attach')}: a payment that named no order counts for one; ${c('payment.attached')}.`,
      `${c('payment_tolerance')} of ${c('PATCH /merchants/me')} and ${c('POST /orders')}: by how much USDC an order may be short and still be paid; what is given away stands in ${c('GET /entries')}.`,
      `${c('POST /orders/{id}/explain')} and ${c('POST /checkout/{order_id}/explain')}: why a transaction did or did not pay an order, in one code and one sentence.`,
      `${c('POST /orders/{id}/refunds')}, ${c('POST /refunds/{id}/signature')} and ${c('POST /refunds/{id}/cancel')}: money goes back from the merchant's wallet, by one signature, once; ${['refund.created', 'refund.confirmed', 'refund.failed'].map(c).join(', ')}.`,
      `${c('GET /attention')}: ${c('reason')} lists one kind alone; ${c('POST /attention/{id}/handle')} takes a ${c('note')}, which ${c('handled_note')} shows.`,
    ],
  },
  {
    day: '2026-11-23',
    gained: [
      `${c('POST /orders/{id}/accept')}: what came too little, late or after the cancellation counts as payment in full; ${c('accepted')} of an order, ${c('order.accepted')}, and ${c('given_away')} of ${c('GET /summary')}.`,
      `${c('GET /entries')} and ${c('/entries.csv')}: the ledger, a row per movement of money, counted without gaps.`,
      `${c('GET /summary')} is a sum of it by day, week or month (${c('by')}), with opening and closing: ${c('periods')} and their figures replace ${c('days')} of paid orders.`,
      `${c('GET /overview')} sums no amounts any more: ${c('GET /summary')} is the one place for them.`,
    ],
  },
  {
    day: '2026-11-22',
    gained: [
      `${c('GET /events')}: ${c('after')} and ${c('wait')} pull everything in order and without gaps; ${c('include=body')} gives the bytes that webhooks send.`,
      `Up to ten webhook endpoints beside the ${c('webhook_url')}, with chosen kinds, the format of Standard Webhooks, a secret of their own, test events and pauses.`,
      `Kinds that endpoints may choose: ${['order.overpaid', 'order.paid_late', 'order.paid_after_cancel', 'order.duplicate', 'order.settled', 'payment.unmatched', 'account.changed'].map(c).join(', ')}, and more of subscriptions.`,
      `Orders: ${c('success_url')} and ${c('cancel_url')}; lists by ${c('paid_gte')}, ${c('paid_lt')}, ${c('brl_amount')}, ${c('description')} and ${c('text')}.`,
      `Lists as files: ${['orders', 'attention', 'subscriptions', 'deliveries', 'audit'].map(list => c(`GET /${list}.csv`)).join(', ')}.`,
      `${c('/merchants/me/branding')} and ${c('GET /checkout/{order_id}/branding')}: logo, colour, contact and terms of the checkout.`,
      `${c('GET /attention')}: one list of what does not simply settle; ${c('POST /attention/{id}/handle')} takes one off it until something new is known.`,
      'Members, invitations, named API keys with scopes, and the audit log of all that users and keys change.',
      `Every answer names the day of its interface in ${c('Ponte-Version')}.`,
      `${c('payer_url')} of a subscription: a page of its payer with what is due, receipts and the next charge; ${c('of_subscription')} of ${c('GET /checkout/{order_id}')}.`,
      'Subscriptions: trials, retries of unpaid periods, pauses, changes from the next period or now.',
    ],
  },
  {
    day: '2026-11-20',
    gained: ['The first interface: orders, subscriptions, events, webhooks and the merchant.'],
  },
]

export const changesSections: readonly Section[] = changes.map(({ day, gained }) => ({
  id: `day-${day}`,
  title: day,
  html: `<ul>${gained.map(text => `<li>${text}</li>`).join('')}</ul>`,
}))
