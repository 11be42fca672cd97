import { z } from 'zod'
import { address, brlAmount, description, externalRef, id, memo, metadata, timestamp, txHash, usdcAmount } from '../fields'
import {
  acceptedData,
  attachedData,
  compactData,
  paidData,
  refundConfirmedData,
  refundData,
  refundFailedData,
  settledData,
  underpaidData,
  unmatchedData,
} from '../webhook'

/** The owner of this event, and the merchant version it was decided under: a reader with an older copy waits. */
export const ownedBy = { merchant_id: id, merchant_version: z.int().min(1) }

/**
 * Published by orders for the order of a subscription. Consumed by subscriptions: the answer to a charge. Of the order it names what its reader decides by;
 * whatever else of it is shown travels along as it is, in any version, and is kept as it came.
 */
export const orderCreated = z.object({
  ...ownedBy,
  order: z.looseObject({
    id,
    memo,
    subscription_id: id.nullable(),
    external_ref: externalRef.nullable(),
    description: description.nullable(),
    metadata,
    brl_amount: brlAmount,
    usdc_amount: usdcAmount,
    created_at: timestamp,
    expires_at: timestamp,
    payment: z.looseObject({ checkout_url: z.string() }),
  }),
})

/**
 * Payable orders, published by orders, which owns them: for a new order, and for all of them again when chain-listener's history began anew.
 * Consumed by chain-listener, which answers for each in `watched` of a `chain.blocks`, as often as it is asked. The address was known to no one before
 * block `watch_from`. `generation` is the listener's newest that orders knows. `merchant_is_contract` is true when a contract stood at the payout
 * address: where that contract is missing, a sweep would pay an address that no one may control.
 */
export const depositWatch = z.object({
  chain_id: z.int(),
  generation: id.nullable(),
  orders: z
    .array(
      z.object({
        order_id: id,
        merchant_id: id,
        memo,
        router_address: address,
        merchant_address: address,
        merchant_is_contract: z.boolean(),
        deposit_address: address.nullable(),
        watch_from: z.int().min(0),
        expires_at: timestamp,
        asked_amount: usdcAmount,
        cancelled_at: timestamp.nullable(),
      }),
    )
    .min(1),
})
export type DepositWatch = z.infer<typeof depositWatch>

/**
 * Payout addresses of merchants, past and present, published by orders for each new one, and for all of them again when chain-listener's history began anew.
 * Consumed by chain-listener, which watches them for ever. Read for is what came from block `watch_from` on, or, where that is null, from the time `since`.
 */
export const payoutWatch = z.object({
  chain_id: z.int(),
  generation: id.nullable(),
  payouts: z.array(z.object({ address, since: timestamp, watch_from: z.int().min(0).nullable() })).min(1),
})
export type PayoutWatch = z.infer<typeof payoutWatch>

/**
 * The place up to which orders follows chain-listener: the newest generation and lease that it has seen, and the last block up to which everything confirmed is known
 * to it. Published by orders when it starts, when a generation begins, and every minute. Consumed by chain-listener: a lease that its database does not
 * know was given out after the state that this database was put back to.
 */
export const chainFollowed = z.object({
  chain_id: z.int(),
  generation: id,
  lease: id,
  /** The greatest version that was seen of that lease. */
  version: z.int().min(1),
  watermark: z.int().nullable(),
})
export type ChainFollowed = z.infer<typeof chainFollowed>

/**
 * Refunds of which orders asks what became of their nonces. Published by orders when one is made, signed or cancelled, and again while nothing new is heard of it. Consumed by
 * chain-listener, which answers with `refund.observed`, and submits what is signed. No one can have signed the nonce before block `watch_from`;
 * `valid_before` is the latest end of what was signed, null while nothing was.
 */
export const refundWatch = z.object({
  chain_id: z.int(),
  refunds: z
    .array(
      z.object({
        refund_id: id,
        order_id: id,
        from_address: address,
        payee_address: address,
        amount: usdcAmount,
        nonce: txHash,
        watch_from: z.int().min(0),
        /** Unix seconds. */
        valid_before: z.int().nullable(),
        /** Of the merchant's wallet, with the end `valid_before`. Null while nothing may be submitted; absent before refunds were. */
        signature: z.string().nullish(),
        /** The refund is cancelled: no signature that ends by `valid_before` is to be submitted any more. */
        is_withdrawn: z.boolean().optional(),
      }),
    )
    .min(1),
})
export type RefundWatch = z.infer<typeof refundWatch>

/**
 * Foreign tokens to be sent on from deposit addresses to the payout addresses of their orders. Published by orders when a merchant asks for one, and again while nothing new
 * is heard of it. Consumed by chain-listener, which submits it and answers with `recovery.observed`. Of two for one token of an order the one with the greater id is the later; the
 * router can have fulfilled none before block `watch_from`.
 */
export const recoveryWatch = z.object({
  chain_id: z.int(),
  recoveries: z
    .array(
      z.object({
        recovery_id: id,
        order_id: id,
        /** The zero address for the network's own coin. */
        token_address: address,
        memo,
        router_address: address,
        merchant_address: address,
        watch_from: z.int().min(0),
      }),
    )
    .min(1),
})
export type RecoveryWatch = z.infer<typeof recoveryWatch>

/** Published by orders. Consumed by subscriptions (with a `subscription_id`: it becomes `subscription.charged`), webhook-dispatcher and api-gateway (without). */
export const orderPaid = z.object({ ...ownedBy, order: paidData })

export const orderUnderpaid = z.object({ ...ownedBy, order: underpaidData })

export const orderClosed = z.object({ ...ownedBy, subscription_id: id.nullable(), order: compactData })

/**
 * Published by orders, when money came besides or after what an order asked for (`overpaid`, `paid_late`, `paid_after_cancel`, `duplicate`).
 * Consumed by webhook-dispatcher.
 */
export const orderSurplus = z.object({ ...ownedBy, order: underpaidData })

/** Published by orders: all that was paid for the order has reached the payout address. Consumed by webhook-dispatcher. */
export const orderSettled = z.object({ ...ownedBy, order: settledData })

/** Published by orders beside `order.paid`: the merchant accepted what came. Consumed by webhook-dispatcher. */
export const orderAccepted = z.object({ ...ownedBy, order: acceptedData })

/** Published by orders. Consumed by webhook-dispatcher: merchants know it as `payment.unmatched`. */
export const paymentUnmatched = z.object({ ...ownedBy, payment: unmatchedData })

const ofOrder = { ...ownedBy, subscription_id: id.nullable() }

export const paymentAttached = z.object({ ...ofOrder, payment: attachedData })

/**
 * Published by orders: a payer asked for the code that naming an address takes. Consumed by api-gateway, which mails it. Of no use to any reader after `expires_at`.
 */
export const refundClaimCodeIssued = z.object({
  merchant_id: id,
  order_id: id,
  claim_id: id,
  merchant_name: z.string(),
  amount: usdcAmount,
  email: z.string(),
  language: z.string(),
  code: z.string(),
  expires_at: timestamp,
})
export type RefundClaimCodeIssued = z.infer<typeof refundClaimCodeIssued>

export const refundCreated = z.object({ ...ofOrder, refund: refundData })

/** Published by orders: the listener has seen the money go back. Consumed by webhook-dispatcher. */
export const refundConfirmed = z.object({ ...ofOrder, refund: refundConfirmedData })

/** Published by orders: what was signed can move no money any more. Consumed by webhook-dispatcher. */
export const refundFailed = z.object({ ...ofOrder, refund: refundFailedData })

/** Published by orders, without outbox: whatever a payer or merchant can see changed. Consumed by api-gateway for live pages. */
export const orderChanged = z.object({ merchant_id: id, order_id: id })

/** Of which requested order of which subscription an answer speaks. */
const answered = { ...ownedBy, subscription_id: id, order_id: id }

/** Published by orders. Consumed by subscriptions: the order that was asked for is opened later, once the reason is gone. */
export const orderWaiting = z.object({ ...answered, reason: z.string() })

/** Published by orders. Consumed by subscriptions: the order that was asked for was never opened and never will be. */
export const orderRefused = z.object({ ...answered, reason: z.string() })

/**
 * Published by orders. Consumed by subscriptions: money is confirmed for an order that is not paid, or no longer, or goes back. The largest `revision` stands.
 * `missing_brl_amount` is what would make it complete, zero when all came, but late. `order` is what `order.paid` would hold, null when all money was
 * taken away by a reorganisation.
 */
export const orderReceived = z.object({
  ...answered,
  revision: z.int().min(1),
  missing_brl_amount: brlAmount,
  order: paidData.nullable(),
})
export type OrderReceived = z.infer<typeof orderReceived>

/**
 * Published by orders for a subscription's order. Consumed by subscriptions: what the order shows from now on, as in its body. The largest `revision` stands.
 */
export const orderUpdated = z.object({
  ...answered,
  revision: z.int().min(1),
  state: z.looseObject({
    status: z.string(),
    exception: z.string().nullable(),
    received: usdcAmount,
    tx_hash: txHash.nullable(),
    paid_at: timestamp.nullable(),
    cancelled_at: timestamp.nullable(),
    payment_uri: z.string().nullable(),
  }),
})
export type OrderUpdated = z.infer<typeof orderUpdated>
