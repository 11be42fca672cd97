import { eventQuery, listDeliveries, listEvents, listOrders, listSubscriptions, summaryQuery } from '@ponte/contracts'
import { account, payoutChanges, people } from './account'
import { attention, myAttention } from './attention'
import { endpoints, endpointsByKey } from './endpoints'
import { files } from './files'
import { open } from './open'
import { api, keyed, me, type Operation, owned, priced } from './operation'

export type { Operation } from './operation'

const orders: Operation[] = [
  api('post', '/orders', {
    ...{ id: 'createOrder', tag: 'Orders', summary: 'Create an order', body: 'CreateOrder', answers: { 201: 'Order' } },
    description: 'Fixes the quote at once; the payer then sends exactly `usdc_amount` with the memo, or follows `payment.checkout_url`.',
    errors: [...keyed, ...priced, 'payout_address_refused'],
  }),
  api('get', '/orders', { id: 'listOrders', tag: 'Orders', summary: 'List your orders', query: listOrders, answers: { 200: 'OrderList' } }),
  api('get', '/orders/:id', {
    id: 'getOrder',
    tag: 'Orders',
    summary: 'Get an order with its payments',
    answers: { 200: 'Order' },
    errors: owned,
  }),
  api('post', '/orders/:id/cancel', {
    ...{ id: 'cancelOrder', tag: 'Orders', summary: 'Cancel an order', answers: { 200: 'Order' } },
    errors: [...owned, ...keyed, 'invalid_state', 'order_has_payments'],
  }),
  ...attention,
]

const subscriptions: Operation[] = [
  api('post', '/subscriptions', {
    ...{ id: 'createSubscription', tag: 'Subscriptions', summary: 'Create a subscription', body: 'CreateSubscription' },
    description: 'With an `interval` its orders are issued by themselves; without one, each charge is yours to ask for.',
    answers: { 201: 'Subscription' },
    errors: [...keyed, 'payout_address_required'],
  }),
  api('get', '/subscriptions', {
    ...{ id: 'listSubscriptions', tag: 'Subscriptions', summary: 'List your subscriptions', query: listSubscriptions },
    answers: { 200: 'SubscriptionList' },
  }),
  api('get', '/subscriptions/:id', {
    ...{ id: 'getSubscription', tag: 'Subscriptions', summary: 'Get a subscription', answers: { 200: 'Subscription' }, errors: owned },
  }),
  api('patch', '/subscriptions/:id', {
    ...{ id: 'updateSubscription', tag: 'Subscriptions', summary: 'Change a subscription', body: 'UpdateSubscription' },
    description: 'What touches charging applies from the next period.',
    answers: { 200: 'Subscription' },
    errors: [...owned, 'invalid_state'],
  }),
  api('post', '/subscriptions/:id/charge', {
    ...{ id: 'chargeSubscription', tag: 'Subscriptions', summary: 'Issue the next order, or get the open one' },
    description: '201 a new order, 200 the one that is open, 202 when the order is on its way and its link already works.',
    answers: { 200: 'Order', 201: 'Order', 202: 'PendingCharge' },
    errors: [...owned, ...keyed, ...priced, 'invalid_state', 'not_due'],
  }),
  api('post', '/subscriptions/:id/cancel', {
    ...{ id: 'cancelSubscription', tag: 'Subscriptions', summary: 'Cancel a subscription and its open order' },
    answers: { 200: 'Subscription' },
    errors: [...owned, ...keyed, 'invalid_state'],
  }),
  api('post', '/subscriptions/:id/charges/:period_index/accept', {
    ...{ id: 'acceptCharge', tag: 'Subscriptions', summary: 'Count what came for a period as its payment' },
    description:
      'For money that came late, or too little: `received_brl_amount` of the charge. It is counted once, as `subscription.charged`.',
    answers: { 200: 'Subscription' },
    errors: [...owned, ...keyed, 'invalid_state'],
  }),
]

const events: Operation[] = [
  api('get', '/events', {
    ...{ id: 'listEvents', tag: 'Events', summary: 'List the webhook events of 30 days', query: listEvents, answers: { 200: 'EventList' } },
  }),
  api('get', '/events/:id', {
    ...{ id: 'getEvent', tag: 'Events', summary: 'Get a webhook event', query: eventQuery, answers: { 200: 'Event' }, errors: owned },
  }),
]

const merchants: Operation[] = [
  {
    ...{ method: 'post', path: '/api/v1/merchants', credential: 'session', permission: null, id: 'createMerchant', tag: 'Merchant' },
    ...{ summary: 'Create your merchant; shows the API key once', body: 'CreateMerchant', answers: { 201: 'MerchantWithKey' } },
    errors: ['merchant_exists', 'payout_address_refused'],
  },
  me('get', '', { id: 'getMerchant', tag: 'Merchant', summary: 'Get your merchant', answers: { 200: 'Merchant' } }),
  me('patch', '', {
    id: 'updateMerchant',
    tag: 'Merchant',
    summary: 'Change your merchant',
    description:
      'The first `payout_address` is in force at once. Changing or clearing it wants a login of the last minutes, and another address waits: see ' +
      '`pending_payout_change`. Open orders keep theirs.',
    body: 'UpdateMerchant',
    answers: { 200: 'Merchant' },
    errors: ['payout_address_refused', 'fresh_login_required'],
  }),
  ...payoutChanges,
  me('post', '/rotate-key', {
    ...{ id: 'rotateKey', tag: 'Merchant', summary: 'Invalidate the API key and show a new one once', answers: { 200: 'MerchantWithKey' } },
    keyed: true,
  }),
  me('post', '/rotate-webhook-secret', {
    ...{ id: 'rotateWebhookSecret', tag: 'Merchant', summary: 'Get a new webhook secret, not yet in force', answers: { 200: 'Merchant' } },
    description: 'The present secret signs until you activate the new one, or for 24 hours.',
  }),
  me('post', '/activate-webhook-secret', {
    ...{ id: 'activateWebhookSecret', tag: 'Merchant', summary: 'Put the new webhook secret in force', answers: { 200: 'Merchant' } },
    errors: ['invalid_state'],
  }),
]

const dashboard: Operation[] = [
  me('get', '/overview', { id: 'getOverview', tag: 'Dashboard', summary: 'What happened lately', answers: { 200: 'Overview' } }),
  me('get', '/summary', {
    ...{ id: 'getSummary', tag: 'Dashboard', summary: 'What was paid, day by day', query: summaryQuery, answers: { 200: 'Summary' } },
    description: 'Orders by the civil day on which they were paid. All figures are of the same orders; surplus is not in them.',
  }),
  ...myAttention,
  me('post', '/orders', {
    ...{ id: 'createMyOrder', tag: 'Dashboard', summary: 'Create an order', body: 'CreateOrder', answers: { 201: 'Order' } },
    errors: [...keyed, ...priced, 'payout_address_refused'],
  }),
  me('post', '/orders/:id/cancel', {
    ...{ id: 'cancelMyOrder', tag: 'Dashboard', summary: 'Cancel an order', answers: { 200: 'Order' } },
    errors: [...owned, ...keyed, 'invalid_state', 'order_has_payments'],
  }),
  me('post', '/subscriptions', {
    ...{ id: 'createMySubscription', tag: 'Dashboard', summary: 'Create a subscription', body: 'CreateSubscription' },
    answers: { 201: 'Subscription' },
    errors: [...keyed, 'payout_address_required'],
  }),
  me('post', '/subscriptions/:id/charge', {
    ...{ id: 'chargeMySubscription', tag: 'Dashboard', summary: 'Issue the next order, or get the open one' },
    answers: { 200: 'Order', 201: 'Order', 202: 'PendingCharge' },
    errors: [...owned, ...keyed, ...priced, 'invalid_state', 'not_due'],
  }),
  me('post', '/subscriptions/:id/cancel', {
    ...{ id: 'cancelMySubscription', tag: 'Dashboard', summary: 'Cancel a subscription and its open order' },
    answers: { 200: 'Subscription' },
    errors: [...owned, ...keyed, 'invalid_state'],
  }),
  me('post', '/subscriptions/:id/charges/:period_index/accept', {
    ...{ id: 'acceptMyCharge', tag: 'Dashboard', summary: 'Count what came for a period as its payment', answers: { 200: 'Subscription' } },
    errors: [...owned, ...keyed, 'invalid_state'],
  }),
  me('get', '/orders', {
    id: 'listMyOrders',
    tag: 'Dashboard',
    summary: 'List your orders',
    query: listOrders,
    answers: { 200: 'OrderList' },
  }),
  me('get', '/orders/:id', { id: 'getMyOrder', tag: 'Dashboard', summary: 'Get an order', answers: { 200: 'Order' }, errors: owned }),
  me('get', '/subscriptions', {
    ...{ id: 'listMySubscriptions', tag: 'Dashboard', summary: 'List your subscriptions', query: listSubscriptions },
    answers: { 200: 'SubscriptionList' },
  }),
  me('get', '/subscriptions/:id', {
    ...{ id: 'getMySubscription', tag: 'Dashboard', summary: 'Get a subscription', answers: { 200: 'Subscription' }, errors: owned },
  }),
  me('get', '/events', {
    id: 'listMyEvents',
    tag: 'Dashboard',
    summary: 'List your events',
    query: listEvents,
    answers: { 200: 'EventList' },
  }),
  me('get', '/events/:id', {
    ...{ id: 'getMyEvent', tag: 'Dashboard', summary: 'Get an event', query: eventQuery, answers: { 200: 'Event' }, errors: owned },
  }),
  me('get', '/deliveries', {
    ...{
      id: 'listDeliveries',
      tag: 'Dashboard',
      summary: 'List webhook deliveries',
      query: listDeliveries,
      answers: { 200: 'DeliveryList' },
    },
  }),
  me('get', '/deliveries/:id', {
    ...{
      id: 'getDelivery',
      tag: 'Dashboard',
      summary: 'Get a delivery with its attempts',
      answers: { 200: 'DeliveryDetail' },
      errors: owned,
    },
  }),
  me('post', '/deliveries/:id/replay', {
    ...{ id: 'replayDelivery', tag: 'Dashboard', summary: 'Deliver an event again', answers: { 200: 'Delivery', 201: 'Delivery' } },
    errors: [...owned, 'invalid_state'],
  }),
  me('post', '/deliveries/replay', {
    ...{ id: 'replayDeliveries', tag: 'Dashboard', summary: 'Deliver the events of a time range again', body: 'ReplayDeliveries' },
    answers: { 200: 'Replayed' },
    errors: ['invalid_state'],
  }),
]

/** Every route of the public API. A test holds it against the routes that are really served. */
export const operations: readonly Operation[] = [
  ...open,
  ...orders,
  ...subscriptions,
  ...events,
  ...merchants,
  ...dashboard,
  ...endpoints,
  ...endpointsByKey,
  ...account,
  ...people,
  ...files,
]
