import type { Operation } from './operation'

/** What needs no credential. */
export const open: Operation[] = [
  {
    method: 'get',
    path: '/ping',
    id: 'ping',
    tag: 'Liveness',
    credential: 'none',
    permission: null,
    summary: 'Is the service online?',
    answers: { 200: 'Ping' },
  },
  {
    ...{ method: 'get', path: '/api/v1/checkout/:order_id', id: 'getCheckout', tag: 'Checkout', credential: 'none', permission: null },
    ...{ summary: 'What a payer needs to pay an order', answers: { 200: 'Checkout' }, errors: ['not_found'] },
  },
  {
    ...{ method: 'get', path: '/api/v1/checkout/:order_id/branding', id: 'getCheckoutBranding', tag: 'Checkout', credential: 'none' },
    ...{ permission: null, summary: 'How the checkout of an order looks', answers: { 200: 'Branding' }, errors: ['not_found'] },
  },
  {
    ...{
      method: 'get',
      path: '/api/v1/checkout/:order_id/stream',
      id: 'streamCheckout',
      tag: 'Checkout',
      credential: 'none',
      permission: null,
    },
    ...{ summary: 'The same, live, as server-sent events', answers: { 200: 'stream' }, errors: ['not_found'] },
    description:
      'Each `checkout` event carries the whole present view; after a lost connection the first event is up to date. An order that is final for a while ' +
      'ends it with an event `end`; opened again with that `Last-Event-ID`, it answers 204.',
  },
  {
    ...{
      method: 'post',
      path: '/api/v1/checkout/:order_id/authorization',
      id: 'authorizePayment',
      tag: 'Checkout',
      credential: 'none',
      permission: null,
    },
    ...{ summary: 'Pay without gas, by a signature', body: 'AuthorizePayment', answers: { 202: 'PaymentAuthorization' } },
    description:
      'The payer signs EIP-3009 `ReceiveWithAuthorization` of the token at `payment.token_address`: `to` is `payment.router_address`, `nonce` is ' +
      'keccak256(abi.encode(memo, payment.merchant_address)). We submit it and pay for the gas. The same signature again answers how far it has come.',
    errors: ['not_found', 'invalid_state'],
  },
  {
    ...{ method: 'get', path: '/api/v1/payer/subscriptions/:payer_token', id: 'getPayerSubscription', tag: 'Checkout', credential: 'none' },
    ...{ permission: null, summary: 'What the payer of a subscription sees', answers: { 200: 'PayerSubscription' }, errors: ['not_found'] },
    description: 'The token is the end of the `payer_url` of a subscription.',
  },
  {
    ...{ method: 'post', path: '/api/v1/payer/subscriptions/:payer_token/order', id: 'askForOrder', tag: 'Checkout', credential: 'none' },
    ...{ permission: null, summary: 'Have the order of an unpaid period opened again', answers: { 200: 'PayerSubscription' } },
    description: 'Where `due.can_be_asked` is false nothing is opened, and the answer is the present view.',
    errors: ['not_found', 'not_due', 'invalid_state'],
  },
]
