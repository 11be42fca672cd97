import type { Texts } from './texts-pt'

const every = { day: ['a day', 'days'], week: ['a week', 'weeks'], month: ['a month', 'months'], year: ['a year', 'years'] } as const

export const en: Texts = {
  pageTitle: merchant => `Subscription · ${merchant}`,
  loading: 'Loading the subscription…',
  subscription: 'Subscription of',
  rhythm: (interval, count) => (count === 1 ? every[interval][0] : `every ${count} ${every[interval][1]}`),
  atWill: 'each charge when the merchant asks for it',
  next: 'Next charge',
  noNext: 'none is planned',
  ends: 'Ends on',
  ended: 'Ended on',
  payNow: 'Pay now',
  opening: 'Preparing the invoice…',
  history: 'History',
  noHistory: 'Nothing has been charged yet.',
  receipt: 'Receipt',
  open: 'See the invoice',
  statuses: { open: 'Open', paid: 'Paid', unpaid: 'Not paid' },
  issued: moment => `charged on ${moment}`,
  paid: moment => `paid on ${moment}`,
  keep: 'Keep this link: it is good as long as the subscription exists.',
  states: {
    due: { title: 'There is something to pay', happened: 'The invoice of this period is open.', todo: 'Pay before its time is up.' },
    again: {
      title: 'This period is not paid',
      happened: 'The last invoice ended unpaid.',
      todo: 'Pay now: we open another, at the rate of the moment.',
    },
    preparing: {
      title: 'The invoice is being prepared',
      happened: 'The period has begun, and its invoice is not open yet.',
      todo: 'Wait: this page updates by itself.',
    },
    nothing: { title: 'Nothing to pay now', happened: 'No invoice is open.', todo: 'Come back for the next charge.' },
    paused: { title: 'Subscription paused', happened: 'Nothing is charged while it is paused.', todo: 'To go on, talk to the merchant.' },
    over: { title: 'Subscription ended', happened: 'Nothing more will be charged.', todo: 'The receipts stay here.' },
    refused: {
      title: 'No invoice could be opened',
      happened: 'The period ends too soon, or there is nothing left to charge.',
      todo: 'Wait for the next charge, or talk to the merchant.',
    },
    unanswered: {
      title: 'No answer',
      happened: 'The service did not answer; nothing was taken.',
      todo: 'Check the internet and press “Pay now” again.',
    },
    missing: {
      title: 'Subscription not found',
      happened: 'This link leads to no subscription.',
      todo: 'Check that it is complete, or ask the merchant for another.',
    },
    unreachable: {
      title: 'The subscription could not be loaded',
      happened: 'The service did not answer.',
      todo: 'Wait: we try again every few seconds.',
    },
  },
}
