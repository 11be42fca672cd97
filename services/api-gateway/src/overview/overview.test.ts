import { overviewOf, overviewPaths } from './overview'

const id = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
const at = '2026-11-20T12:00:00.000Z'
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const order = (status: string, brl_amount: string, received: string) => ({
  ...{ object: 'order', id, status, exception: null, subscription_id: null, external_ref: null, description: null, metadata: {} },
  ...{ brl_amount, usdc_amount: '1.000000', platform_fee: '0.010000', expected: '0.990000', received, memo: 'a'.repeat(64), tx_hash: null },
  quote: { rate: '5.420000', source: 'static', as_of: at, spread_bps: 0 },
  payment: {
    ...{ network: 'anvil', chain_id: 31337, token_address: address, router_address: address, merchant_address: address },
    ...{ deposit_address: null, payment_uri: null, checkout_url: 'http://127.0.0.1:8080/pay/1' },
  },
  ...{ expires_at: at, paid_at: null, cancelled_at: null, created_at: at },
})
const list = (data: object[], has_more = false) => ({ object: 'list', data, has_more })

test('states are counted, and the newest five shown', () => {
  const orders = [
    order('paid', '0.10', '0.100001'),
    order('paid', '0.20', '0.200002'),
    ...Array(6).fill(order('pending', '9.99', '0.000000')),
  ]
  const deliveries = { object: 'delivery_overview', pending: 1, retrying: 2, delivered_24h: 3, dead_24h: 4 }
  expect(overviewOf({ orders: list(orders, true), subscriptions: list([]), deliveries })).toMatchObject({
    orders_24h: { created: 8, open: 6, paid: 2, truncated: true },
    latest_orders: { length: 5 },
    subscriptions: { active: 0, past_due: 0, truncated: false },
    deliveries,
  })
})

test('an owner that did not answer leaves its part null', () => {
  expect(overviewOf({ orders: null, subscriptions: null, deliveries: null })).toEqual({
    object: 'overview',
    orders_24h: null,
    latest_orders: null,
    subscriptions: null,
    deliveries: null,
  })
})

test('each owner is asked one page', () => {
  expect(overviewPaths(new Date(at)).orders).toBe('/api/v1/orders?limit=100&created_gte=2026-11-19T12:00:00.000Z')
})
