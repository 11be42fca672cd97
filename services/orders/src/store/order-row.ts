import { orderException, orderStatus } from '@ponte/contracts'
import type { Order as OrderRow } from '../generated/client'
import type { Order } from '../order'
import { type Payment, paymentKind, paymentStatus, type Sweep } from '../payment'

/** Every column of `orders` that is fixed when the order is made, with the value it takes. */
const fixed: readonly [column: string, read: (order: Order) => unknown][] = [
  ['id', o => o.id],
  ['merchant_id', o => o.merchantId],
  ['merchant_version', o => o.merchantVersion],
  ['merchant_name', o => o.merchantName],
  ['merchant_address', o => o.merchantAddress],
  ['subscription_id', o => o.subscriptionId],
  ['external_ref', o => o.externalRef],
  ['description', o => o.description],
  ['metadata', o => o.metadata],
  ['success_url', o => o.successUrl],
  ['cancel_url', o => o.cancelUrl],
  ['brl_centavos', o => o.brlCentavos],
  ['usdc_units', o => o.usdcUnits],
  ['fee_bps', o => o.feeBps],
  ['fee_units', o => o.feeUnits],
  ['expected_units', o => o.expectedUnits],
  ['tolerance_units', o => o.toleranceUnits],
  ['rate_micros', o => o.rateMicros],
  ['rate_source', o => o.rateSource],
  ['rate_as_of', o => o.rateAsOf],
  ['rate_spread_bps', o => o.rateSpreadBps],
  ['memo', o => o.memo],
  ['chain_id', o => o.chainId],
  ['token_address', o => o.tokenAddress],
  ['router_address', o => o.routerAddress],
  ['deposit_address', o => o.depositAddress],
  ['expires_at', o => o.expiresAt],
  ['created_at', o => o.createdAt],
]

/** Those that a change may write. */
const changing: readonly [column: string, read: (order: Order) => unknown][] = [
  ['status', o => o.status],
  ['exception', o => o.exception],
  ['confirmed_units', o => o.confirmedUnits],
  ['notified_units', o => o.notifiedUnits],
  ['tx_hash', o => o.txHash],
  ['paid_at', o => o.paidAt],
  ['expired_at', o => o.expiredAt],
  ['cancelled_at', o => o.cancelledAt],
  ['superseded_at', o => o.supersededAt],
  ['settled_at', o => o.settledAt],
  ['withdrawn_at', o => o.withdrawnAt],
]

export const changingColumns = changing.map(([column]) => column)
export const orderColumns = [...fixed.map(([column]) => column), ...changingColumns, 'version']

const readAll = [...fixed, ...changing]
export const orderRecord = (order: Order): Record<string, unknown> => ({
  ...Object.fromEntries(readAll.map(([column, read]) => [column, read(order)])),
  version: order.version,
})

/** What an update needs of an order. */
export const changeRecord = (order: Order): Record<string, unknown> => ({
  ...Object.fromEntries(changing.map(([column, read]) => [column, read(order)])),
  id: order.id,
  version: order.version,
})

/** Every column under the name of its field, for statements whose plan matters too much to leave to Prisma. */
export const orderFields = orderColumns
  .map(column => `orders.${column} AS "${column.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())}"`)
  .join(', ')

type Units =
  | 'brlCentavos'
  | 'usdcUnits'
  | 'feeUnits'
  | 'expectedUnits'
  | 'toleranceUnits'
  | 'confirmedUnits'
  | 'notifiedUnits'
  | 'rateMicros'
/** What a merchant marks is no part of the order. */
type Marks = 'handledAt' | 'handledBy' | 'handledFacts' | 'handledBlocked'
/** A row of `orderFields`: the driver gives bigint columns as text. */
export type OrderFields = Omit<OrderRow, Units | Marks> & Record<Units, string>

/** The database speaks strings where the domain knows a closed set; a row outside it is a fault of ours. */
export const fromFields = (row: OrderFields): Order => ({
  ...row,
  brlCentavos: BigInt(row.brlCentavos),
  usdcUnits: BigInt(row.usdcUnits),
  feeBps: BigInt(row.feeBps),
  feeUnits: BigInt(row.feeUnits),
  expectedUnits: BigInt(row.expectedUnits),
  toleranceUnits: BigInt(row.toleranceUnits),
  confirmedUnits: BigInt(row.confirmedUnits),
  notifiedUnits: BigInt(row.notifiedUnits),
  rateMicros: BigInt(row.rateMicros),
  status: orderStatus.parse(row.status),
  exception: row.exception === null ? null : orderException.parse(row.exception),
  metadata: row.metadata as Record<string, string>,
})

/** A place on the chain as JSON has it: units and block numbers are text, because they may be larger than a number is exact. */
interface PositionFields {
  id: string
  gross_units: string
  tx_hash: string
  block_number: string
  block_time: string
  log_index: number
}

export interface PaymentFields extends PositionFields {
  kind: string
  revision: number
  status: string
  payer_address: string
  deposit_address: string | null
}

const POSITION = `'id', $.id, 'gross_units', $.gross_units::text, 'tx_hash', $.tx_hash, 'block_number', $.block_number::text,
  'block_time', $.block_time, 'log_index', $.log_index`

/** `json_build_object` of one payment, and of one sweep; JSON holds a number as a double, units are more. */
export const paymentJson = `json_build_object(${POSITION.replaceAll('$', 'p')}, 'kind', p.kind, 'revision', p.revision, 'status', p.status,
  'payer_address', p.payer_address, 'deposit_address', p.deposit_address)`
export const sweepJson = `json_build_object(${POSITION.replaceAll('$', 's')})`

export const paymentColumns = [
  'id',
  'order_id',
  'kind',
  'revision',
  'status',
  'gross_units',
  'payer_address',
  'deposit_address',
  'tx_hash',
  'block_number',
  'block_time',
  'log_index',
]

export const paymentRecord = (payment: Payment): object => ({
  id: payment.id,
  kind: payment.kind,
  revision: payment.revision,
  status: payment.status,
  gross_units: payment.grossUnits,
  payer_address: payment.payerAddress,
  deposit_address: payment.depositAddress,
  tx_hash: payment.txHash,
  block_number: payment.blockNumber,
  block_time: payment.blockTime,
  log_index: payment.logIndex,
})

export const toPayment = (row: PaymentFields): Payment => ({
  ...toSweep(row),
  kind: paymentKind(row.kind),
  revision: row.revision,
  status: paymentStatus(row.status),
  payerAddress: row.payer_address,
  depositAddress: row.deposit_address,
})

export const toSweep = (row: PositionFields): Sweep => ({
  id: row.id,
  grossUnits: BigInt(row.gross_units),
  txHash: row.tx_hash,
  blockNumber: BigInt(row.block_number),
  blockTime: new Date(row.block_time),
  logIndex: row.log_index,
})
