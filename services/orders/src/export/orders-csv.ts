import { chainIdOf, formatBrl, formatRate, formatUsdc } from '@ponte/contracts'
import type { CsvColumn } from '@ponte/service-kit'
import { centavosAt } from '../ledger/centavos'
import { type Moved, platformFeeUnits } from '../ledger/platform-fee'
import type { OrderHistory } from '../order/body'
import type { FiscalDocument } from '../order/invoicing'
import type { Order } from '../order/order'
import { confirmedPayments, inChainOrder, type Payment } from '../payment/payment'

interface Row extends OrderHistory {
  moved: Moved | undefined
  fiscalDocument: FiscalDocument | null
}

const feeUnits = ({ order, moved }: Row): bigint => platformFeeUnits(order, moved)
const confirmed = ({ payments }: Pick<OrderHistory, 'payments'>) => confirmedPayments(payments).toSorted(inChainOrder)
const MINTED = `0x${'0'.repeat(40)}`

/** `gross` is what was confirmed, `share` what of it is the merchant's, `platform_fee` the difference. */
export const orderColumns: readonly CsvColumn<Row>[] = [
  ['id', ({ order }) => order.id],
  ['created_at', ({ order }) => order.createdAt.toISOString()],
  ['paid_at', ({ order }) => order.paidAt?.toISOString() ?? null],
  ['status', ({ order }) => order.status],
  ['exception', ({ order }) => order.exception],
  ['external_ref', ({ order }) => order.externalRef],
  ['description', ({ order }) => order.description],
  ['subscription_id', ({ order }) => order.subscriptionId],
  ['brl_amount', ({ order }) => formatBrl(order.brlCentavos)],
  ['usdc_amount', ({ order }) => formatUsdc(order.usdcUnits)],
  ['rate', ({ order }) => formatRate(order.rateMicros)],
  ['gross', ({ order }) => formatUsdc(order.confirmedUnits)],
  ['platform_fee', row => formatUsdc(feeUnits(row))],
  ['share', row => formatUsdc(row.order.confirmedUnits - feeUnits(row))],
  [
    'tx_hashes',
    history =>
      confirmed(history)
        .map(({ txHash }) => txHash)
        .join(' '),
  ],
  [
    'payers',
    history => [...new Set(confirmed(history).map(({ payerAddress }) => payerAddress))].filter(payer => payer !== MINTED).join(' '),
  ],
  ['memo', ({ order }) => order.memo],
  ['fiscal_document', ({ fiscalDocument }) => fiscalDocument && `${fiscalDocument.kind} ${fiscalDocument.key}`],
  ['metadata', ({ order }) => metadataOf(order)],
]

interface PaymentRow {
  order: Order
  payment: Payment
}

/** Each confirmed payment of an order, by its place on the chain. */
export const paymentRows = ({ order, payments }: OrderHistory): PaymentRow[] => confirmed({ payments }).map(payment => ({ order, payment }))

export const paymentColumns: readonly CsvColumn<PaymentRow>[] = [
  ['order_id', ({ order }) => order.id],
  ['block_time', ({ payment }) => payment.blockTime.toISOString()],
  ['amount', ({ payment }) => formatUsdc(payment.grossUnits)],
  ['brl_amount', ({ order, payment }) => formatBrl(centavosAt(payment.grossUnits, order.rateMicros))],
  ['rate', ({ order }) => formatRate(order.rateMicros)],
  ['kind', ({ payment }) => payment.kind],
  ['payer', ({ payment }) => (payment.payerAddress === MINTED ? null : payment.payerAddress)],
  ['tx_hash', ({ payment }) => payment.txHash],
  ['log_index', ({ payment }) => String(payment.logIndex)],
  ['block_number', ({ payment }) => String(payment.blockNumber)],
  ['status', ({ order }) => order.status],
  ['exception', ({ order }) => order.exception],
  ['external_ref', ({ order }) => order.externalRef],
  ['description', ({ order }) => order.description],
  ['subscription_id', ({ order }) => order.subscriptionId],
  ['memo', ({ order }) => order.memo],
  ['metadata', ({ order }) => metadataOf(order)],
]

export const networkOf = ({ order, payment }: PaymentRow): number => chainIdOf(payment.id) ?? order.chainId

/** Only where several networks are followed. */
export const paymentNetwork: CsvColumn<PaymentRow> = ['chain_id', row => String(networkOf(row))]

const metadataOf = ({ metadata }: Order): string | null => (Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata))
