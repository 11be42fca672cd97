import { authorizationStatus, mismatchReason, orderException, orderStatus } from '@ponte/contracts'
import { flag, int, table, text, time, units } from '@ponte/service-kit'
import { z } from 'zod'
import type { Change, Order } from '../order/order'
import type { Payment } from '../payment/payment'
import type { Sweep } from '../payment/settlement'

export interface OrderStoreOptions {
  now: () => Date
  /** The latest time that the chain can have confirmed, by our clock. */
  latestChainTime: () => Date
  /** Called with every order that was written, once it is. */
  committed(change: Change): void
}

export const otherNetwork = z.object({
  ...{ chainId: int, tokenAddress: text, routerAddress: text, depositAddress: text.nullable(), watchFrom: int, merchantIsContract: flag },
  isOffered: z.boolean().default(true),
})

export const merchantAddresses = z.record(z.string(), text)

/** Fixed when the order is made. */
const terms = {
  id: text,
  merchantId: text,
  merchantVersion: int,
  merchantName: text,
  merchantAddress: text,
  merchantAddresses,
  subscriptionId: text.nullable(),
  externalRef: text.nullable(),
  description: text.nullable(),
  metadata: z.record(z.string(), z.string()),
  successUrl: text.nullable(),
  cancelUrl: text.nullable(),
  brlCentavos: units,
  usdcUnits: units,
  feeBps: units,
  feeUnits: units,
  expectedUnits: units,
  toleranceUnits: units,
  rateMicros: units,
  rateSource: text,
  rateAsOf: time,
  rateSpreadBps: int,
  memo: text,
  chainId: int,
  tokenAddress: text,
  routerAddress: text,
  depositAddress: text.nullable(),
  watchFrom: units,
  merchantIsContract: flag,
  expiresAt: time,
  createdAt: time,
  // Written with its refunds alone.
  promisedUnits: units,
}

const changing = {
  networks: z.array(otherNetwork),
  status: orderStatus,
  exception: orderException.nullable(),
  confirmedUnits: units,
  seenUnits: units,
  transferUnits: units,
  completedUnits: units,
  completingChainId: int.nullable(),
  completingBlock: units.nullable(),
  completingIndex: int.nullable(),
  completingTime: time.nullable(),
  completingTxHash: text.nullable(),
  lastChainId: int.nullable(),
  lastBlock: units.nullable(),
  lastIndex: int.nullable(),
  lastTime: time.nullable(),
  lastTxHash: text.nullable(),
  notifiedUnits: units,
  txHash: text.nullable(),
  paidAt: time.nullable(),
  expiredAt: time.nullable(),
  cancelledAt: time.nullable(),
  acceptedAt: time.nullable(),
  acceptedUnits: units,
  acceptedReason: text.nullable(),
  acceptedBy: text.nullable(),
  supersededAt: time.nullable(),
  deductedCentavos: units.nullable(),
  settledAt: time.nullable(),
  withdrawnAt: time.nullable(),
}

export const orders = table('orders', { ...terms, ...changing, version: int })
/** Written by an update of an order beside its version. */
export const orderChanges = table('orders', changing).columns
export const toOrder = (row: unknown): Order => orders.parse(row)

/** A log of the chain, by which money moved, and the step of the listener that reported it last. */
const log = {
  id: text,
  grossUnits: units,
  txHash: text,
  blockNumber: units,
  blockTime: time,
  logIndex: int,
}
const stated = { blockHash: text.nullable(), generation: text.nullable(), version: int }
/** Where it went. */
const target = { chainId: int, routerAddress: text, tokenAddress: text, memo: text, merchantAddress: text }

const payment = {
  ...log,
  ...stated,
  kind: z.enum(['router', 'transfer']),
  status: z.enum(['detected', 'confirmed', 'orphaned']),
  payerAddress: text,
  depositAddress: text.nullable(),
}
export const payments = table('payments', { ...payment, orderId: text })
const paymentRow = table('payments', payment)
export const toPayment = (row: unknown): Payment => paymentRow.parse(row)

export const unmatchedPayments = table('unmatched_payments', {
  ...payment,
  ...target,
  reason: mismatchReason,
  exactUnits: units.nullable(),
})
export type Unmatched = ReturnType<typeof unmatchedPayments.parse>

export const attachments = table('attachments', {
  paymentId: text,
  orderId: text,
  memo: text,
  reason: text,
  attachedBy: text.nullable(),
  attachedAt: time,
})

export const sweeps = table('sweeps', { ...log, ...stated, ...target, status: text, depositAddress: text, feeUnits: units.nullable() })
export const movements = table('sweeps', log)
export const toSweep = (row: unknown): Sweep => movements.parse(row)

export const authorizations = table('authorizations', {
  chainId: int,
  status: authorizationStatus,
  payerAddress: text,
  grossUnits: units,
  validBefore: int,
  txHash: text.nullable(),
  reason: text.nullable(),
})
