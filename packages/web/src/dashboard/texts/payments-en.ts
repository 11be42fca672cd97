import type { paymentsPt } from './payments-pt'

export const paymentsEn: typeof paymentsPt = {
  payments: {
    title: 'Payments',
    gross: 'Received',
    fee: 'Platform fee',
    share: 'Your share',
    coming: 'On its way, not confirmed',
    from: 'From',
    unknownPayer: 'Unknown: newly issued USDC, as a bridge brings it',
    statuses: { detected: 'Waiting for confirmations', confirmed: 'Confirmed', orphaned: 'Undone by the network' },
    settlements: { pending: 'To be passed on', blocked: 'Settlement blocked' },
    blocked:
      'The money lies at the address of this order and cannot go to your payout address now: one of the addresses is blocked, USDC is paused, or your payout address is a contract that does not exist on this network. Ask Circle whether your address is blocked, and see that your contract exists; we try again by ourselves, and only you can receive this money.',
    exceptions: {
      overpaid: 'More arrived than the order asks for.',
      paid_late: 'The money arrived after the time was up and does not settle the order.',
      paid_after_cancel: 'The money arrived after the cancellation and does not settle the order.',
      duplicate: 'The order was paid more than once.',
      reorged: 'The network undid a payment that had been confirmed. Deliver nothing until it is back or paid again.',
    },
    returning: amount =>
      `${amount} are left over. To return them, send them from your own wallet to the sender shown here. If that is an exchange, or unknown, ask the payer for an address first: what goes back to an exchange may be lost.`,
  },
  attention: {
    title: 'Needs attention',
    lead: 'Money that does not settle by itself: what came, the fee, what the order takes and what is left over.',
    empty: 'Nothing needs attention',
    emptyText: 'When a payment comes short, in excess, late, twice or without an order, it is shown here.',
    all: 'See all that needs attention',
    noOrder: 'No order',
    taken: 'The order takes',
    leftOver: 'Left over',
    unknownFee: 'Unknown',
    short: 'Only a part arrived. The order’s link shows the payer what is missing.',
    shortAtEnd: 'Only a part arrived in time, and the order expired without being paid.',
    reasons: {
      overpaid: 'Received too much',
      paid_late: 'Paid late',
      paid_after_cancel: 'Paid after cancellation',
      duplicate: 'Paid more than once',
      reorged: 'Undone by the network',
      underpaid: 'Part missing',
      settlement_blocked: 'Settlement blocked',
      unmatched: 'No order waits for it',
    },
    mismatches: {
      unknown_memo: 'It arrived at your payout address, but no order has this memo.',
      wrong_chain: 'It arrived on another network than the order’s.',
      wrong_router: 'It came through another contract than the order’s.',
      wrong_token: 'It came in another token than the order’s.',
      wrong_recipient: 'It arrived at your payout address with the memo of an order that is paid to another one.',
      zero_amount: 'It came without an amount.',
      amount_out_of_range: 'The amount is more than an order can hold, or very little for an order with over a hundred payments.',
    },
  },
}
