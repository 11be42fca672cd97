import { eraseCustomers } from '../api/customer'
import { createSubscription, exportSubscriptions, listSubscriptions, updateSubscription } from '../api/subscription/subscription'
import { byEither, ends, file, internal, owned, priced } from './operation'

const reads = { owner: 'subscriptions', permission: 'subscriptions:read', tag: 'Subscriptions' } as const
const writes = { owner: 'subscriptions', permission: 'subscriptions:write', tag: 'Subscriptions' } as const

export const subscriptions = {
  createSubscription: byEither('post', '/subscriptions', {
    ...{ ...writes, alias: 'createMySubscription', keyAlone: true, audit: 'subscription.create', creates: 'getSubscription' },
    summary: 'Create a subscription',
    description: 'With an `interval` its orders are issued by themselves; without one, each charge is yours to ask for.',
    body: createSubscription,
    example: {
      ...{ brl_amount: '49.90', interval: 'month', interval_count: 1, max_periods: 12, timezone: 'America/Sao_Paulo' },
      ...{ external_ref: 'PLAN-42', description: 'Monthly plan' },
    },
    answers: { 201: 'Subscription' },
    errors: ['payout_address_required'],
  }),
  listSubscriptions: byEither('get', '/subscriptions', {
    ...{ ...reads, alias: 'listMySubscriptions', keyAlone: true, summary: 'List your subscriptions', query: listSubscriptions },
    answers: { 200: 'SubscriptionList' },
  }),
  getSubscription: byEither('get', '/subscriptions/:id', {
    ...{
      ...reads,
      alias: 'getMySubscription',
      keyAlone: true,
      summary: 'Get a subscription',
      answers: { 200: 'Subscription' },
      errors: owned,
    },
  }),
  updateSubscription: byEither('patch', '/subscriptions/:id', {
    ...{ ...writes, alias: 'updateMySubscription', keyAlone: true, login: 'fresh', audit: 'subscription.update' },
    summary: 'Change a subscription',
    description: 'What touches charging applies from the next period.',
    body: updateSubscription,
    example: { brl_amount: '59.90', max_periods: 24 },
    answers: { 200: 'Subscription' },
    errors: [...owned, 'invalid_state'],
  }),
  chargeSubscription: byEither('post', '/subscriptions/:id/charge', {
    ...{ ...writes, alias: 'chargeMySubscription', keyAlone: true, audit: 'subscription.charge', creates: 'getOrder' },
    summary: 'Issue the next order, or get the open one',
    description: '201 a new order, 200 the one that is open, 202 when the order is on its way and its link already works.',
    answers: { 200: 'Order', 201: 'Order', 202: 'PendingCharge' },
    errors: [...owned, ...priced, 'invalid_state', 'not_due'],
  }),
  cancelSubscription: byEither('post', '/subscriptions/:id/cancel', {
    ...{ ...writes, alias: 'cancelMySubscription', keyAlone: true, audit: 'subscription.cancel' },
    summary: 'Cancel a subscription and its open order',
    answers: { 200: 'Subscription' },
    errors: [...owned, 'invalid_state'],
  }),
  acceptCharge: byEither('post', '/subscriptions/:id/charges/:period_index/accept', {
    ...{
      ...writes,
      ...ends,
      alias: 'acceptMyCharge',
      audit: 'subscription.accept',
      summary: 'Count what came for a period as its payment',
    },
    description:
      'For money that came late, or too little: `received_brl_amount` of the charge. It is counted once, as `subscription.charged`.',
    answers: { 200: 'Subscription' },
    errors: [...owned, 'invalid_state'],
  }),
  exportSubscriptions: file(
    '/subscriptions.csv',
    { ...reads, alias: 'exportMySubscriptions', query: exportSubscriptions },
    'subscriptions',
  ),

  eraseSubscriptionCustomers: internal('post', '/subscription-customers/erase', { owner: 'subscriptions', body: eraseCustomers }),
}
