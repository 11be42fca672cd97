import { orderException, orderStatus } from '@ponte/contracts'
import type { Order as OrderRow } from '../generated/client'
import type { Order } from '../order'
import { type Payment, paymentStatus } from '../settlement'

/** Every column of `orders` with the value it takes, as JSON has it, in one place for insert. */
export const orderColumns: readonly [column: string, read: (order: Order) => unknown][] = [
  ['id', o => o.id],
  ['merchant_id', o => o.merchantId],
  ['merchant_version', o => o.merchantVersion],
  ['merchant_name', o => o.merchantName],
  ['merchant_address', o => o.merchantAddress],
  ['status', o => o.status],
  ['exception', o => o.exception],
  ['subscription_id', o => o.subscriptionId],
  ['external_ref', o => o.externalRef],
  ['description', o => o.description],
  ['metadata', o => o.metadata],
  ['brl_centavos', o => o.brlCentavos],
  ['usdc_units', o => o.usdcUnits],
  ['fee_bps', o => o.feeBps],
  ['fee_units', o => o.feeUnits],
  ['expected_units', o => o.expectedUnits],
  ['received_units', o => o.receivedUnits],
  ['told_units', o => o.toldUnits],
  ['rate_micros', o => o.rateMicros],
  ['rate_source', o => o.rateSource],
  ['rate_as_of', o => o.rateAsOf],
  ['rate_spread_bps', o => o.rateSpreadBps],
  ['memo', o => o.memo],
  ['chain_id', o => o.chainId],
  ['token_address', o => o.tokenAddress],
  ['router_address', o => o.routerAddress],
  ['deposit_address', o => o.depositAddress],
  ['tx_hash', o => o.txHash],
  ['expires_at', o => o.expiresAt],
  ['paid_at', o => o.paidAt],
  ['expired_at', o => o.expiredAt],
  ['cancelled_at', o => o.cancelledAt],
  ['superseded_at', o => o.supersededAt],
  ['created_at', o => o.createdAt],
  ['version', o => o.version],
]

/** Every column under the name of its field, for statements whose plan matters too much to leave to Prisma. */
export const orderFields = orderColumns
  .map(([column]) => `${column} AS "${column.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())}"`)
  .join(', ')

type Units = 'brlCentavos' | 'usdcUnits' | 'feeUnits' | 'expectedUnits' | 'receivedUnits' | 'toldUnits' | 'rateMicros'
/** A row of `orderFields`: the driver gives bigint columns as text. */
export type OrderFields = Omit<OrderRow, Units> & Record<Units, string>

export const fromFields = (row: OrderFields): Order =>
  toOrder({
    ...row,
    brlCentavos: BigInt(row.brlCentavos),
    usdcUnits: BigInt(row.usdcUnits),
    feeUnits: BigInt(row.feeUnits),
    expectedUnits: BigInt(row.expectedUnits),
    receivedUnits: BigInt(row.receivedUnits),
    toldUnits: BigInt(row.toldUnits),
    rateMicros: BigInt(row.rateMicros),
  })

/** The database speaks strings where the domain knows a closed set; a row outside it is a fault of ours. */
export const toOrder = (row: OrderRow): Order => ({
  ...row,
  feeBps: BigInt(row.feeBps),
  status: orderStatus.parse(row.status),
  exception: row.exception === null ? null : orderException.parse(row.exception),
  metadata: row.metadata as Record<string, string>,
})

/** A payment as JSON has it: units and block numbers are text, because they may be larger than a number is exact. */
export interface PaymentFields {
  id: string
  revision: number
  status: string
  share_units: string
  payer_address: string
  tx_hash: string
  block_number: string
  block_time: string
  replaces: string[]
}

export const paymentFields = (orderId: string, payment: Payment): PaymentFields & { order_id: string } => ({
  order_id: orderId,
  id: payment.id,
  revision: payment.revision,
  status: payment.status,
  share_units: String(payment.shareUnits),
  payer_address: payment.payerAddress,
  tx_hash: payment.txHash,
  block_number: String(payment.blockNumber),
  block_time: payment.blockTime.toISOString(),
  replaces: [...(payment.replaces ?? [])],
})

export const toPayment = (row: PaymentFields): Payment => ({
  id: row.id,
  revision: row.revision,
  status: paymentStatus(row.status),
  shareUnits: BigInt(row.share_units),
  payerAddress: row.payer_address,
  txHash: row.tx_hash,
  blockNumber: BigInt(row.block_number),
  blockTime: new Date(row.block_time),
  replaces: row.replaces,
})
