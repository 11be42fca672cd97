import { pathInLogs, subjectsOf, subjectsOfPath } from './subjects'

const ID = '0197a3c2-7a10-7000-8000-000000000001'
const OTHER = '0197a3c2-7a10-7000-8000-000000000002'

describe('what an event or a caller is about', () => {
  it.each([
    [
      'an order that was paid',
      { merchant_id: ID, merchant_version: 1, order: { id: OTHER, subscription_id: null } },
      { merchant_id: ID, order_id: OTHER },
    ],
    ['an order of a subscription', { order: { id: OTHER, subscription_id: ID } }, { order_id: OTHER, subscription_id: ID }],
    [
      'a closed subscription',
      { merchant_id: ID, open_order_id: null, subscription: { id: OTHER } },
      { merchant_id: ID, subscription_id: OTHER },
    ],
    ['a charge', { order_id: ID, memo: 'ab', terms: { merchant_id: OTHER } }, { merchant_id: OTHER, order_id: ID, memo: 'ab' }],
    ['a payment', { payment_id: '1:0xab:0', memo: 'ab', fee: '0.01' }, { payment_id: '1:0xab:0', memo: 'ab' }],
    ['a merchant who asks', { kind: 'merchant', terms: { merchant_id: ID, display_name: 'Padaria' } }, { merchant_id: ID }],
    ['a payer', { kind: 'checkout' }, {}],
    ['the chain', { chain_id: 1, sequence: 4 }, {}],
  ])('%s', (_, data, subjects) => expect(subjectsOf(data)).toEqual(subjects))
})

describe('what a path is about', () => {
  it.each([
    [`/api/v1/orders/${ID}`, { order_id: ID }],
    [`/api/v1/merchants/me/orders/${ID.toUpperCase()}/cancel`, { order_id: ID }],
    [`/api/v1/checkout/${ID}/stream`, { order_id: ID }],
    [`/pay/${ID}`, { order_id: ID }],
    [`/api/v1/subscriptions/${ID}/charge`, { subscription_id: ID }],
    [`/api/v1/merchants/me/deliveries/${ID}/replay`, { delivery_id: ID }],
    [`/api/v1/events/${ID}`, { event_id: ID }],
    ['/api/v1/orders', {}],
    [`/api/v1/payer/subscriptions/${ID}/order`, {}],
    [`/API/v1/Payer/Subscriptions/${ID}`, {}],
    [`/pay/subscription/${ID}`, {}],
    ['/api/v1/orders/not-an-id', {}],
    [`/api/v1/orders/${ID}0`, {}],
  ])('%s', (path, subjects) => expect(subjectsOfPath(path)).toEqual(subjects))
})

describe('a path in logs', () => {
  it.each([
    [`/api/v1/payer/subscriptions/${ID}/order?x=1`, '/api/v1/payer/subscriptions/:payer_token/order'],
    [`/pay/refund/${ID}`, '/pay/refund/:payer_token'],
    [`/api/v1/orders/${ID}?wait=5`, `/api/v1/orders/${ID}`],
  ])('%s', (path, logged) => expect(pathInLogs(path)).toBe(logged))
})
