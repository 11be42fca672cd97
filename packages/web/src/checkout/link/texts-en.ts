import type { Texts } from './texts-pt'

export const en: Texts = {
  pageTitle: merchant => `Payment · ${merchant}`,
  loading: 'Loading the payment…',
  invoice: 'Invoice of',
  reusable: 'Payment to',
  due: 'Due',
  reference: 'Reference',
  chosen: 'Amount in reais',
  bounds: (least, most) => `From ${least} to ${most}`,
  payNow: 'Pay now',
  opening: 'Getting the rate…',
  receipt: 'See the receipt',
  quoted: 'The amount in USDC is quoted when you press “Pay now”, and holds for some minutes.',
  states: {
    open: {
      title: 'Ready to pay',
      happened: 'You pay the amount in reais with USDC.',
      todo: 'Press “Pay now” once your wallet is at hand.',
    },
    overdue: { title: 'Overdue', happened: 'Its due date has passed.', todo: 'You can still pay it here.' },
    started: { title: 'Payment begun', happened: 'A quote is open for this invoice.', todo: 'Go on where you left off.' },
    paid: { title: 'Paid', happened: 'This link has been paid.', todo: 'Send nothing more.' },
    undecided: {
      title: 'The shop is checking',
      happened: 'Money has come for this link already, too late or of another amount.',
      todo: 'Do not pay again: ask the shop.',
    },
    ended: { title: 'Link ended', happened: 'The shop has ended this link.', todo: 'Ask the shop for another one.' },
    wrongAmount: { title: 'Check the amount', happened: 'The amount is outside the bounds.', todo: 'Write one between them.' },
    refused: {
      title: 'The payment could not be opened',
      happened: 'The shop cannot receive at the moment.',
      todo: 'Try again in some minutes, or ask the shop.',
    },
    waiting: { title: 'Many requests at once', happened: 'The service asked for a pause.', todo: 'Wait a minute and press again.' },
    unanswered: {
      title: 'No answer',
      happened: 'The service did not answer; nothing was charged.',
      todo: 'Check your connection and press “Pay now” again.',
    },
    missing: {
      title: 'Link not found',
      happened: 'This address leads to no payment.',
      todo: 'Check that it is complete, or ask the shop for another one.',
    },
    unreachable: { title: 'Could not load it', happened: 'The service did not answer.', todo: 'Wait: we try again every few seconds.' },
  },
}
