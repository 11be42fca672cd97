import { type CheckoutBody, chainIdOf, formatBrl, formatRate, formatUsdc, type OrderBody, type PaymentBody } from '@ponte/contracts'
import { profileOf, typicalSeconds } from '@ponte/payment-router'
import { type Authorization, comingUnits, shownAuthorization } from '../payment/authorization'
import { type Destination, destinationsOf, hasSeveralNetworks, inChainOrder, livePayments, type Payment } from '../payment/payment'
import { type Settlement, type Sweep, settlements } from '../payment/settlement'
import { type Invoicing, invoicingBody, NO_INVOICING } from './invoicing'
import { givenAwayUnits, type Ledger, type Order, receivedUnits } from './order'
import { requiredUnits } from './verdict'

/** A network as payers read it. */
export interface NetworkPlace {
  network: string
  confirmations: number
  /** In which these usually come. */
  typicalSeconds: number
  /** A relayer sweeps and submits there. */
  isRelayed: boolean
}

export interface Place {
  /** Real money moves here. */
  livemode: boolean
  publicUrl: string
  /** New orders do not offer it: its operator suspended it, or it stands still. */
  isSuspended(chainId: number): boolean
  /** The networks of this deployment, by chain. */
  networks: ReadonlyMap<number, NetworkPlace>
  /** An order for less than this is not relayed: the gas would cost more than its fee brings. */
  gaslessMinUnits: bigint
}

export interface OrderHistory extends Ledger {
  payments: readonly Payment[]
  sweeps: readonly Sweep[]
  /** Why what lies at its deposit address cannot be swept; null when it can. */
  blockedReason: string | null
  /** Networks on which it cannot. */
  blockedOn: ReadonlySet<number>
  /** What of its confirmed money it does not take. */
  leftOverUnits: bigint
  /** What of that has not gone back. */
  toReturnUnits: bigint
  /** The last signature that was taken for it on each network. */
  authorizations: readonly Authorization[]
}

/** The order as the API shows it, with its payments and what became of their money. */
export const historyBody = (history: OrderHistory, place: Place, invoicing?: Invoicing): OrderBody => ({
  ...orderBody(history.order, place, invoicing),
  payments: paymentBodies(history, place),
})

/** The order as the API shows it. Events and lists of other things have it without customer and document. */
export function orderBody(order: Order, place: Place, invoicing: Invoicing = NO_INVOICING): OrderBody {
  return {
    object: 'order',
    id: order.id,
    livemode: place.livemode,
    status: order.status,
    exception: order.exception,
    subscription_id: order.subscriptionId,
    external_ref: order.externalRef,
    description: order.description,
    metadata: order.metadata,
    brl_amount: formatBrl(order.brlCentavos),
    usdc_amount: formatUsdc(order.usdcUnits),
    platform_fee: formatUsdc(order.feeUnits),
    expected: formatUsdc(order.expectedUnits),
    received: formatUsdc(receivedUnits(order)),
    memo: order.memo,
    tx_hash: order.txHash,
    quote: quoteBody(order),
    payment: paymentTarget(order, place, dueUnits(order)),
    ...returnUrls(order),
    payment_tolerance: formatUsdc(order.toleranceUnits),
    ...accepted(order),
    ...invoicingBody(invoicing),
    expires_at: order.expiresAt.toISOString(),
    paid_at: order.paidAt?.toISOString() ?? null,
    cancelled_at: order.cancelledAt?.toISOString() ?? null,
    created_at: order.createdAt.toISOString(),
  }
}

/** The order as its payer may see it: nothing about the merchant but the name, and the number that it gave the order. */
export function checkoutBody(history: OrderHistory, heads: ReadonlyMap<number, bigint>, place: Place): CheckoutBody {
  const { order, payments, authorizations } = history
  const authorization = shownAuthorization(authorizations)
  const due = dueUnits(order, comingUnits(authorizations, payments))
  return {
    object: 'checkout',
    id: order.id,
    livemode: place.livemode,
    merchant_name: order.merchantName,
    external_ref: order.externalRef,
    description: order.description,
    of_subscription: order.subscriptionId !== null,
    status: order.status,
    exception: order.exception,
    brl_amount: formatBrl(order.brlCentavos),
    usdc_amount: formatUsdc(order.usdcUnits),
    expected: formatUsdc(order.expectedUnits),
    received: formatUsdc(receivedUnits(order)),
    due: formatUsdc(due),
    memo: order.memo,
    tx_hash: order.txHash ?? livePayments(payments).toSorted(inChainOrder)[0]?.txHash ?? null,
    confirmations: confirmations(history, heads, place),
    quote: quoteBody(order),
    payment: paymentTarget(order, place, due),
    payments: paymentBodies(history, place),
    authorization: authorization && {
      status: authorization.status,
      amount: formatUsdc(authorization.grossUnits),
      tx_hash: authorization.txHash,
      valid_before: authorization.validBefore,
      reason: authorization.reason,
      ...(hasSeveralNetworks(order) ? { chain_id: authorization.chainId } : {}),
    },
    ...returnUrls(order),
    expires_at: order.expiresAt.toISOString(),
    paid_at: order.paidAt?.toISOString() ?? null,
  }
}

/**
 * What still has to be sent. What is on its way counts as sent, and nothing is due for an order that waits for no money or for less than its
 * tolerance: no payer is asked to pay twice.
 */
export function dueUnits(order: Order, coming = 0n): bigint {
  if (order.status !== 'pending' && order.status !== 'underpaid') return 0n
  const seenUnits = order.seenUnits + coming
  return seenUnits < requiredUnits(order) ? order.usdcUnits - seenUnits : 0n
}

function confirmations({ order, payments }: OrderHistory, heads: ReadonlyMap<number, bigint>, place: Place) {
  const newest = payments.filter(({ status }) => status === 'detected').at(-1)
  if (!newest) return null
  const chainId = chainIdOf(newest.id) ?? order.chainId
  const [head, required] = [heads.get(chainId) ?? 0n, placeOf(chainId, place).confirmations]
  const seen = head >= newest.blockNumber ? Number(head - newest.blockNumber) + 1 : 1
  return { seen: Math.min(seen, required), required }
}

/** Only where they were set, so that an order without them reads as it always did. */
const returnUrls = ({ successUrl, cancelUrl }: Order) => ({
  ...(successUrl === null ? {} : { success_url: successUrl }),
  ...(cancelUrl === null ? {} : { cancel_url: cancelUrl }),
})

const accepted = (order: Order) =>
  order.acceptedAt === null
    ? {}
    : {
        accepted: {
          at: order.acceptedAt.toISOString(),
          by: order.acceptedBy,
          reason: order.acceptedReason ?? '',
          given_away: formatUsdc(givenAwayUnits(order)),
        },
      }

const quoteBody = (order: Order) => ({
  rate: formatRate(order.rateMicros),
  source: order.rateSource,
  as_of: order.rateAsOf.toISOString(),
  spread_bps: order.rateSpreadBps,
})

const paymentTarget = (order: Order, place: Place, due: bigint) => ({
  network: placeOf(order.chainId, place).network,
  chain_id: order.chainId,
  token_address: order.tokenAddress,
  router_address: order.routerAddress,
  merchant_address: order.merchantAddress,
  deposit_address: order.depositAddress,
  gasless: isGasless(order, order.chainId, place),
  payment_uri: paymentUri(order, due),
  checkout_url: `${place.publicUrl}/pay/${order.id}`,
  ...(hasSeveralNetworks(order) ? { networks: networkBodies(order, place, due) } : {}),
})

const networkBodies = (order: Order, place: Place, due: bigint) =>
  destinationsOf(order).map(destination => {
    const { network, confirmations, typicalSeconds } = placeOf(destination.chainId, place)
    const suspended = place.isSuspended(destination.chainId)
    return {
      ...{ network, confirmations, typical_seconds: typicalSeconds },
      chain_id: destination.chainId,
      token_address: destination.tokenAddress,
      router_address: destination.routerAddress,
      ...(destination.merchantAddress === order.merchantAddress ? {} : { merchant_address: destination.merchantAddress }),
      deposit_address: destination.depositAddress,
      // A signature for one that stands still would hold back its amount everywhere until it ends.
      gasless: !suspended && isGasless(order, destination.chainId, place),
      payment_uri: paymentUri(destination, due),
      suspended,
    }
  })

const isGasless = (order: Order, chainId: number, place: Place): boolean =>
  placeOf(chainId, place).isRelayed && order.usdcUnits >= place.gaslessMinUnits

/** An ERC-681 link for what is due; null where no plain transfer pays the order, or nothing is due. */
export const paymentUri = ({ depositAddress, tokenAddress, chainId }: Destination, due: bigint): string | null =>
  depositAddress === null || due === 0n ? null : `ethereum:${tokenAddress}@${chainId}/transfer?address=${depositAddress}&uint256=${due}`

function paymentBodies({ order, payments, sweeps, blockedOn }: OrderHistory, place: Place): PaymentBody[] {
  const settled = settlements(payments, sweeps, chainId => blockedOn.has(chainId ?? order.chainId))
  // Mined again in another block, a transaction is shown once, as it stands.
  const standing = new Set(livePayments(payments).map(({ txHash, grossUnits }) => `${txHash} ${grossUnits}`))
  const shown = payments.filter(({ status, txHash, grossUnits }) => status !== 'orphaned' || !standing.has(`${txHash} ${grossUnits}`))
  return shown.toSorted(inChainOrder).map(payment => ({
    ...paymentBody(payment, settled.get(payment.id)),
    ...(hasSeveralNetworks(order) ? chainOf(payment, order, place) : {}),
  }))
}

function chainOf({ id }: Payment, order: Order, place: Place) {
  const chainId = chainIdOf(id) ?? order.chainId
  return { network: placeOf(chainId, place).network, chain_id: chainId }
}

/** One that this deployment does not follow any more is named by its number. */
export function placeOf(chainId: number, { networks }: Pick<Place, 'networks'>): NetworkPlace {
  const found = networks.get(chainId)
  if (found) return found
  const { confirmations } = profileOf(chainId)
  return { network: String(chainId), confirmations, typicalSeconds: typicalSeconds(chainId, confirmations), isRelayed: false }
}

const MINTED = `0x${'0'.repeat(40)}`

const paymentBody = (payment: Payment, settlement: Settlement | undefined): PaymentBody => ({
  kind: payment.kind,
  tx_hash: payment.txHash,
  status: payment.status,
  amount: formatUsdc(payment.grossUnits),
  payer_address: payment.payerAddress === MINTED ? null : payment.payerAddress,
  block_number: Number(payment.blockNumber),
  block_time: payment.blockTime.toISOString(),
  settlement: { status: settlement?.status ?? 'pending', tx_hash: settlement?.txHash ?? null },
})
