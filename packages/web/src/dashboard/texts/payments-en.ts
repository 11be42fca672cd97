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
      `${amount} are left over. To return them, send them from your own wallet to the sender below. If that is an exchange, or unknown, ask the payer for an address first: what goes back to an exchange may be lost.`,
  },
}
