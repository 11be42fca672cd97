import { z } from 'zod'
import {
  address,
  brlAmount,
  brlAmountInput,
  description,
  externalRef,
  id,
  memo,
  metadata,
  rate,
  text,
  timestamp,
  txHash,
  usdcAmount,
  usdcAmountInput,
} from '../fields'
import { livemode } from '../mode'
import { returnUrl } from '../return-url'
import { checkoutAuthorization } from './authorization'
import { customer, customerInput } from './customer'
import { fiscalDocument, fiscalDocumentInput } from './fiscal-document'
import { chainIds } from './network'

export const orderStatus = z.enum(['pending', 'confirming', 'underpaid', 'paid', 'expired', 'cancelled'])
export const orderException = z.enum(['overpaid', 'paid_late', 'paid_after_cancel', 'duplicate', 'reorged'])
export type OrderStatus = z.infer<typeof orderStatus>
export type OrderException = z.infer<typeof orderException>

export const ORDER_EXPIRES_IN_DEFAULT_S = 1800
export const ORDER_EXPIRES_IN_MIN_S = 10
export const ORDER_EXPIRES_IN_MAX_S = 7 * 86_400

/** Body of `POST /api/v1/orders` (docs/interface.md#orders-and-subscriptions). `expires_at` must lie 10 s to 7 days ahead; the route judges it by its clock. */
export const createOrder = z
  .strictObject({
    brl_amount: brlAmountInput,
    external_ref: externalRef.nullish(),
    description: description.nullish(),
    metadata: metadata.optional(),
    expires_in: z
      .int()
      .min(ORDER_EXPIRES_IN_MIN_S)
      .max(ORDER_EXPIRES_IN_MAX_S)
      .optional()
      .meta({ description: 'Seconds until the order expires' }),
    expires_at: timestamp.optional(),
    success_url: returnUrl.nullish().meta({ description: 'Where the payer is offered to go once the order is paid' }),
    cancel_url: returnUrl.nullish().meta({ description: 'Where the payer is offered to go without paying' }),
    payment_tolerance: usdcAmountInput.nullish().meta({
      description:
        'By how much USDC it may be short and still count as paid, instead of what your merchant has set; at most a tenth of `usdc_amount`. No payer sees it',
      example: '1.00',
    }),
    chain_ids: chainIds.optional().meta({
      description:
        'Those of the networks of your merchant that it may be paid on, of which the first of the installation is one. All of them by default',
    }),
    customer: customerInput.nullish(),
    fiscal_document: fiscalDocumentInput.nullish(),
  })
  .refine(body => body.expires_in === undefined || body.expires_at === undefined, {
    path: ['expires_at'],
    message: 'does not go with expires_in',
  })
export type CreateOrder = z.infer<typeof createOrder>

/** Body of `PATCH /api/v1/orders/:id`; absent fields stay, `null` erases. */
export const updateOrder = z
  .strictObject({
    customer: customerInput.nullable().optional(),
    fiscal_document: fiscalDocumentInput.nullable().optional(),
  })
  .refine(body => body.customer !== undefined || body.fiscal_document !== undefined, {
    path: ['customer'],
    message: 'or fiscal_document must be sent',
  })
export type UpdateOrder = z.infer<typeof updateOrder>

export const acceptOrder = z.strictObject({
  reason: text(500).meta({ description: 'Why it counts as paid, for your own records', example: 'The exchange kept one dollar' }),
})
export type AcceptOrder = z.infer<typeof acceptOrder>

export const acceptance = z.object({
  at: timestamp,
  by: z.string().nullable().meta({ description: '`sub` of the user who accepted it; null for a key' }),
  reason: z.string(),
  given_away: usdcAmount.meta({ description: 'What of `usdc_amount` has not come' }),
})

export const quote = z.object({ rate, source: z.string(), as_of: timestamp, spread_bps: z.int() })

export const settlementStatus = z.enum(['settled', 'pending', 'blocked'])

export const payment = z.object({
  kind: z.enum(['router', 'transfer']).meta({ description: 'Through the router, or by a plain transfer to the deposit address' }),
  tx_hash: txHash.meta({ description: "The payer's own transaction" }),
  status: z.enum(['detected', 'confirmed', 'orphaned']),
  amount: usdcAmount.meta({ description: 'What the payer sent, platform fee included, USDC' }),
  payer_address: address.nullable().meta({ description: 'Who sent it; null when the tokens were minted' }),
  settlement: z.object({
    status: settlementStatus.meta({ description: 'Whether the money has left the deposit address for the payout address' }),
    tx_hash: txHash.nullable().meta({ description: 'The transaction that moved it there' }),
  }),
  block_number: z.int(),
  block_time: timestamp,
  network: z.string().optional().meta({ description: 'Where it was paid; only where the order has `networks`' }),
  chain_id: z.int().optional().meta({ description: 'Only where the order has `networks`' }),
})
export type PaymentBody = z.infer<typeof payment>

/** One of several networks that an order may be paid on. What comes on all of them adds up. */
const orderNetwork = z.object({
  network: z.string(),
  chain_id: z.int(),
  token_address: address,
  router_address: address,
  merchant_address: address.optional().meta({
    description: 'Only where its money goes to another address than on the first: its `deposit_address` is another one, too',
  }),
  deposit_address: address.nullable(),
  gasless: z.boolean(),
  payment_uri: z.string().nullable(),
  confirmations: z.int().meta({ description: 'Blocks until a payment there counts' }),
  typical_seconds: z.int().meta({ description: 'How long these usually take' }),
  suspended: z
    .boolean()
    .meta({ description: 'It stands still: money that comes there counts once it goes on, and no new order offers it' }),
})

/** An order as a local system answered it, before anything came. */
const pendingOrder = {
  object: 'order',
  id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90',
  livemode: false,
  status: 'pending',
  exception: null,
  subscription_id: null,
  external_ref: 'INV-7',
  description: 'Consulting, November',
  metadata: { customer: '42' },
  brl_amount: '150.00',
  usdc_amount: '27.675277',
  platform_fee: '0.276752',
  expected: '27.398525',
  received: '0.000000',
  payment_tolerance: '0.010000',
  memo: 'a3'.repeat(32),
  tx_hash: null,
  quote: { rate: '5.420000', source: 'chainlink', as_of: '2026-11-20T11:59:30.000Z', spread_bps: 0 },
  payment: {
    network: 'anvil',
    chain_id: 31_337,
    token_address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    router_address: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    merchant_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    deposit_address: '0xd18e87577073da1B44C7DF4c02bf4cC1F8AB42fd',
    gasless: true,
    payment_uri:
      'ethereum:0x5FbDB2315678afecb367f032d93F642f64180aa3@31337/transfer?address=0xd18e87577073da1B44C7DF4c02bf4cC1F8AB42fd&uint256=27675277',
    checkout_url: 'https://pay.example.com/pay/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90',
  },
  expires_at: '2026-11-20T12:30:00.000Z',
  paid_at: null,
  cancelled_at: null,
  created_at: '2026-11-20T12:00:00.000Z',
}

export const order = z
  .object({
    object: z.literal('order'),
    id,
    livemode: livemode.optional(),
    status: orderStatus,
    exception: orderException.nullable(),
    subscription_id: id.nullable(),
    external_ref: externalRef.nullable(),
    description: description.nullable(),
    metadata,
    brl_amount: brlAmount,
    usdc_amount: usdcAmount,
    platform_fee: usdcAmount,
    expected: usdcAmount,
    received: usdcAmount,
    memo,
    tx_hash: txHash.nullable(),
    quote,
    payment: z.object({
      network: z.string(),
      chain_id: z.int(),
      token_address: address,
      router_address: address,
      merchant_address: address,
      deposit_address: address.nullable(),
      gasless: z.boolean().optional().meta({ description: 'Whether a payer may sign and leave the gas to the platform' }),
      payment_uri: z.string().nullable(),
      checkout_url: z.string(),
      networks: z
        .array(orderNetwork)
        .optional()
        .meta({ description: 'Every network that it may be paid on, that of the fields above first; only where there are several' }),
    }),
    payments: z.array(payment).optional(),
    success_url: returnUrl.optional().meta({ description: 'Only where it was set' }),
    cancel_url: returnUrl.optional().meta({ description: 'Only where it was set' }),
    payment_tolerance: usdcAmount.optional().meta({ description: 'By how much it may be short and still count as paid' }),
    accepted: acceptance.optional().meta({ description: 'Only where you accepted what came as payment in full' }),
    customer: customer.optional().meta({ description: 'Only where you named one; in answers of `/orders` alone' }),
    fiscal_document: fiscalDocument.optional().meta({ description: 'Only where you named one; in answers of `/orders` alone' }),
    expires_at: timestamp,
    paid_at: timestamp.nullable(),
    cancelled_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Order', example: pendingOrder })
export type OrderBody = z.infer<typeof order>

/** A payer's view: `GET /api/v1/checkout/:order_id`. Nothing about the merchant but its name, and the number that it gave the order. */
export const checkout = z
  .object({
    object: z.literal('checkout'),
    id,
    livemode: livemode.optional(),
    merchant_name: z.string(),
    external_ref: externalRef
      .nullable()
      .optional()
      .meta({ description: 'The number that the shop gave the order; it stands on the receipt' }),
    description: description.nullable(),
    of_subscription: z.boolean().optional().meta({ description: 'Whether it is the charge of a subscription' }),
    status: orderStatus,
    exception: orderException.nullable(),
    brl_amount: brlAmount,
    usdc_amount: usdcAmount,
    expected: usdcAmount,
    received: usdcAmount,
    due: usdcAmount.meta({ description: 'What the payer still has to send, platform fee included' }),
    memo,
    tx_hash: txHash.nullable(),
    confirmations: z.object({ seen: z.int(), required: z.int() }).nullable(),
    quote,
    payment: order.shape.payment,
    payments: z.array(payment),
    authorization: checkoutAuthorization.nullable().meta({
      description:
        'The last signature taken for it (`POST …/authorization`); of several networks the one that is on the way. While it is accepted or submitted its amount is not `due`',
    }),
    success_url: returnUrl.optional(),
    cancel_url: returnUrl.optional(),
    expires_at: timestamp,
    paid_at: timestamp.nullable(),
  })
  .meta({ id: 'Checkout' })
export type CheckoutBody = z.infer<typeof checkout>
