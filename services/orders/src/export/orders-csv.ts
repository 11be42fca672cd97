import { formatBrl, formatRate, formatUsdc } from '@ponte/contracts'
import type { CsvColumn } from '@ponte/service-kit'
import { type Moved, platformFeeUnits } from '../ledger/platform-fee'
import type { OrderHistory } from '../order/body'
import type { FiscalDocument } from '../order/invoicing'
import { confirmedPayments, inChainOrder } from '../payment/payment'

interface Row extends OrderHistory {
  moved: Moved | undefined
  fiscalDocument: FiscalDocument | null
}

const feeUnits = ({ order, moved }: Row): bigint => platformFeeUnits(order, moved)
const confirmed = ({ payments }: OrderHistory) => confirmedPayments(payments).toSorted(inChainOrder)
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
]
