import type { StateName, StateText } from './states-pt'

export const statesEn: Record<StateName, StateText> = {
  sent: {
    title: 'Payment sent',
    happened: 'Your wallet sent the transaction, and the network does not show it yet.',
    todo: 'Do not pay again. You may reload or close this page: nothing is lost.',
  },
  sentSlow: {
    title: 'Payment sent',
    happened: 'The transaction takes longer than usual.',
    todo: 'Look at it in your wallet: pay again only if it failed or was cancelled.',
  },
  signed: {
    title: 'Signature received',
    happened: 'We are sending the payment to the network for you.',
    todo: 'Do not sign or pay again: it would be paid twice.',
  },
  relayerPaused: {
    title: 'Waiting to be sent',
    happened: 'We have your signature but cannot send the payment now; nothing has left your account.',
    todo: 'Wait here: we keep trying for some minutes, and say so here if it fails. Do not pay in another way meanwhile.',
  },
  failed: {
    title: 'The transaction failed',
    happened: 'The network refused the transaction sent from here. The amount did not leave your account.',
    todo: 'You may try again below.',
  },
  signatureFailed: {
    title: 'The signed payment was not made',
    happened: 'What was signed for this invoice could not be paid. Nothing was taken.',
    todo: 'The amount is due again; pay below.',
  },
  confirming: {
    title: 'Payment seen on the network',
    happened: 'The money arrived, and the network is still confirming it.',
    todo: 'Nothing more to do; you may close this page.',
  },
  networkFrozen: {
    title: 'The network stands still',
    happened: 'The money arrived, but for minutes the network has brought no new confirmations.',
    todo: 'Do not pay again. Your payment is recorded and is confirmed once the network goes on.',
  },
  paid: { title: 'Paid', happened: 'The merchant has received your payment.', todo: 'Keep the receipt. There is nothing more to do.' },
  overpaid: {
    title: 'Paid',
    happened: 'More arrived than was owed.',
    todo: 'Show this receipt to the merchant: only they can return the difference, from their own wallet.',
  },
  duplicate: {
    title: 'Paid',
    happened: 'This invoice was paid more than once.',
    todo: 'Show this receipt to the merchant: only they can return what came twice, from their own wallet.',
  },
  underpaid: {
    title: 'A part is missing',
    happened: 'Less arrived than was owed; what arrived is recorded.',
    todo: 'Send the rest below before the time is up:',
  },
  expired: {
    title: 'The time is up',
    happened: 'Nothing arrived in time.',
    todo: 'Do not pay by this link any more. Ask the merchant for a new invoice.',
  },
  expiredPart: {
    title: 'The time is up',
    happened: 'Only a part arrived in time.',
    todo: 'Send nothing more. Show this page to the merchant: they can invoice the rest, or return it from their own wallet.',
  },
  paidLate: {
    title: 'The time is up',
    happened: 'Your payment arrived after the time was up and did not settle this invoice; the merchant has the money.',
    todo: 'Show this page to the merchant. Do not pay again before that.',
  },
  timeUp: {
    title: 'Time is running out on the network',
    happened: 'The clock has run out, and the network is still closing the last blocks in time.',
    todo: 'Send nothing now. If you already did, wait: what counts is when the network recorded the transaction.',
  },
  cancelled: {
    title: 'Invoice cancelled',
    happened: 'The merchant cancelled this invoice.',
    todo: 'There is nothing to pay. If this surprises you, ask the merchant.',
  },
  paidAfterCancel: {
    title: 'Invoice cancelled',
    happened: 'Your payment arrived after the cancellation; the merchant has the money.',
    todo: 'Show this page to the merchant: only they can return it, from their own wallet.',
  },
  reorged: {
    title: 'Payment undone',
    happened: 'The network undid a payment that had been confirmed.',
    todo: 'Wait a few minutes: it usually comes back by itself. Talk to the merchant before you pay again.',
  },
  reconnecting: {
    title: 'No connection',
    happened: 'What you see may be old.',
    todo: 'This page catches up by itself when the connection is back.',
  },
  notFound: {
    title: 'Invoice not found',
    happened: 'This link leads to no invoice.',
    todo: 'Check that it is complete, or ask the merchant for another.',
  },
  unreachable: {
    title: 'The invoice could not be loaded',
    happened: 'The service is busy or did not answer.',
    todo: 'Wait: we try again every few seconds.',
  },
}
