import { z } from 'zod'
import { authorizePayment } from '../api/authorization'
import { explainTransaction } from '../api/explanation'
import { orderStatus } from '../api/order'
import { claimRefund, requestRefundCode } from '../api/refund'
import { address, txHash, usdcAmount } from '../fields'
import { byLink, internal } from './operation'

const ofOrders = { owner: 'orders', permission: null, tag: 'Checkout' } as const
const ofSubscriptions = { owner: 'subscriptions', permission: null, tag: 'Checkout' } as const
const ofGateway = { owner: 'api-gateway', permission: null, tag: 'Checkout' } as const

/** For a payer with a link, and for probes of the service. */
export const payers = {
  ping: {
    method: 'get',
    path: '/ping',
    credentials: [],
    permission: null,
    owner: 'api-gateway',
    tag: 'Liveness',
    summary: 'Is the service online?',
    answers: { 200: 'Ping' },
  },
  getCheckout: byLink('get', '/checkout/:order_id', {
    ...{ ...ofOrders, summary: 'What a payer needs to pay an order', answers: { 200: 'Checkout' }, errors: ['not_found'] },
  }),
  getCheckoutBranding: byLink('get', '/checkout/:order_id/branding', {
    ...{ ...ofGateway, summary: 'How the checkout of an order looks', answers: { 200: 'Branding' }, errors: ['not_found'] },
  }),
  streamCheckout: byLink('get', '/checkout/:order_id/stream', {
    ...{ ...ofGateway, summary: 'The same, live, as server-sent events', answers: { 200: 'stream' }, errors: ['not_found'] },
    description:
      'Each `checkout` event carries the whole present view; after a lost connection the first event is up to date. An order that is final for a while ' +
      'ends it with an event `end`; opened again with that `Last-Event-ID`, it answers 204.',
  }),
  authorizePayment: byLink('post', '/checkout/:order_id/authorization', {
    ...{ ...ofGateway, summary: 'Pay without gas, by a signature', body: authorizePayment, answers: { 202: 'PaymentAuthorization' } },
    description:
      'The payer signs EIP-712 `ReceiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce)` ' +
      '(EIP-3009) in the domain of the token at `payment.token_address`: its `name()`, its `version()`, `payment.chain_id` and its address, or those of the ' +
      'network of `payment.networks` that `chain_id` of the body names. `to` is ' +
      '`payment.router_address`, `value` is in units of 0.000001 USDC, and `nonce` is keccak256(abi.encode(bytes32 memo, address payment.merchant_address, bytes32 ' +
      'salt)), 96 bytes, with the `salt` of the body. We submit it and pay for the gas. The same signature again answers how far it has come.',
    example: {
      ...{ payer_address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', amount: '27.675277', valid_after: 0, valid_before: 1_795_000_000 },
      ...{ salt: `0x${27_675_277n.toString(16).padStart(64, '0')}`, signature: `0x${'1b'.repeat(65)}` },
    },
    errors: ['not_found', 'invalid_state'],
  }),
  explainCheckout: byLink('post', '/checkout/:order_id/explain', {
    ...{
      ...ofGateway,
      summary: 'Learn why a transaction did or did not pay the order',
      body: explainTransaction,
      answers: { 200: 'Explanation' },
    },
    example: { tx_hash: `0x${'5b'.repeat(32)}` },
    description: 'For a payer whose payment the page does not show. Limited per order, because it asks nodes of the network.',
    errors: ['not_found', 'invalid_state'],
  }),
  getPayerSubscription: byLink('get', '/payer/subscriptions/:payer_token', {
    ...{
      ...ofSubscriptions,
      summary: 'What the payer of a subscription sees',
      answers: { 200: 'PayerSubscription' },
      errors: ['not_found'],
    },
    description: 'The token is the end of the `payer_url` of a subscription.',
  }),
  askForOrder: byLink('post', '/payer/subscriptions/:payer_token/order', {
    ...{ ...ofSubscriptions, summary: 'Have the order of an unpaid period opened again', answers: { 200: 'PayerSubscription' } },
    description: 'Where `due.can_be_asked` is false nothing is opened, and the answer is the present view.',
    errors: ['not_found', 'not_due', 'invalid_state'],
  }),

  getPayerRefund: byLink('get', '/payer/refunds/:payer_token', {
    ...{ ...ofOrders, summary: 'What the payer sees of money that comes back', answers: { 200: 'PayerRefund' }, errors: ['not_found'] },
    description: 'The token is the end of the `url` of a claim.',
  }),
  claimRefund: byLink('post', '/payer/refunds/:payer_token', {
    ...{ ...ofOrders, summary: 'Name the address that it goes to', body: claimRefund, answers: { 200: 'PayerRefund' } },
    description:
      'Once: the address does not change afterwards, and the merchant signs a transfer to it or makes another link. The payment has to be one of the order. Where ' +
      '`email_hint` is not null it takes a code, and every attempt with one counts.',
    example: { payee_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', tx_hash: `0x${'5b'.repeat(32)}`, amount: '27.675277' },
    errors: ['not_found', 'invalid_state'],
  }),

  requestRefundCode: byLink('post', '/payer/refunds/:payer_token/code', {
    ...{ ...ofOrders, needsMail: 'always', summary: 'Have a code mailed that naming the address takes', body: requestRefundCode },
    description:
      'To the address that the shop gave, which the answer shows in part. Valid for 15 minutes and five attempts; at most one a minute and five for a link. Before ' +
      '`code_available_at` none is mailed, and the answer is the present view.',
    example: { language: 'pt' },
    answers: { 202: 'PayerRefund' },
    errors: ['not_found', 'invalid_state'],
  }),

  /** With the state that orders reports of the order just now. */
  acceptAuthorization: internal('post', '/checkout/:order_id/authorization', {
    owner: 'chain-listener',
    query: z.strictObject({ status: orderStatus, due: usdcAmount }),
    body: authorizePayment,
  }),
  getLinkPage: internal('get', '/payer/link-pages/:payer_token', { owner: 'orders' }),
  /** A transaction as nodes show it; transfers to this address come first. */
  readTransaction: internal('get', '/transactions', {
    owner: 'chain-listener',
    query: z.strictObject({ hash: txHash, deposit_address: address.optional() }),
  }),
} as const
