import {
  type Dossier,
  type DossierOrder,
  type DossierOrigin,
  type DossierPayment,
  type DossierTransaction,
  formatBrl,
  formatRate,
  formatUsdc,
  type PayoutProof,
} from '@ponte/contracts'
import { type Chosen, type DossierBasis, ruleOf } from '../ledger/dossier-basis'
import type { Invoicing } from '../order/invoicing'
import type { Order } from '../order/order'
import type { PayoutSpan } from '../payment/payout-spans'
import type { StoredOrigin, StoredTransfer } from '../store/dossiers'

export interface OriginFacts {
  origin: StoredOrigin
  counted: bigint
  transfers: readonly StoredTransfer[]
  more: number
  order: { order: Order; invoicing: Invoicing } | null
}

export interface DossierFacts {
  id: string
  at: Date
  installation: string
  merchant: { id: string; name: string }
  basis: DossierBasis
  through: number
  network: string
  chainId: number
  tokenAddress: string
  spans: readonly (PayoutSpan & { proof?: PayoutProof | null })[]
  origins: readonly OriginFacts[]
  transactions: readonly DossierTransaction[]
}

/** The dossier, with its keys in the order of its schema: the file is these bytes. */
export function dossierBody(facts: DossierFacts): Dossier {
  const { basis } = facts
  const origins = facts.origins.map(originBody)
  const reached = new Set(origins.map(one => one.payout_address.toLowerCase()))
  return {
    object: 'dossier',
    version: 1,
    id: facts.id,
    created_at: facts.at.toISOString(),
    installation: facts.installation,
    merchant: { id: facts.merchant.id, name: facts.merchant.name },
    basis: {
      rule: ruleOf(basis),
      amount: basis.amount === null ? null : formatUsdc(BigInt(basis.amount)),
      payout_address: basis.payoutAddress,
      entries: basis.entries,
      through: facts.through,
    },
    network: facts.network,
    chain_id: facts.chainId,
    token_address: facts.tokenAddress,
    payout_addresses: facts.spans
      .filter(({ payoutAddress }) => reached.has(payoutAddress.toLowerCase()))
      .map(({ payoutAddress, from, to, proof = null }) => ({
        address: payoutAddress,
        from: from.toISOString(),
        to: to?.toISOString() ?? null,
        proof: proof && { message: proof.message, signature: proof.signature, signed_at: proof.signed_at },
      })),
    origins,
    transactions: facts.transactions.map(one => one),
    total_usdc: formatUsdc(facts.origins.reduce((sum, { counted }) => sum + counted, 0n)),
  }
}

function originBody({ origin, counted, transfers, more, order }: OriginFacts): DossierOrigin {
  const own: DossierPayment = paymentBody({ ...origin, units: origin.units + origin.feeUnits })
  return {
    sequence: origin.sequence,
    kind: origin.kind,
    at: origin.at.toISOString(),
    amount: formatUsdc(origin.units),
    counted: formatUsdc(counted),
    platform_fee: formatUsdc(origin.feeUnits),
    payout_address: origin.payoutAddress,
    tx_hash: origin.txHash,
    log_index: origin.logIndex,
    router_address: origin.routerAddress,
    memo: origin.memo,
    deposit_address: origin.depositAddress,
    order: order && orderBody(order.order, order.invoicing),
    payments: origin.kind === 'sweep' ? transfers.map(paymentBody) : [own],
    more_payments: more,
  }
}

const paymentBody = ({
  txHash,
  logIndex,
  payerAddress,
  units,
}: Pick<StoredTransfer, 'txHash' | 'logIndex' | 'payerAddress' | 'units'>): DossierPayment => ({
  tx_hash: txHash,
  log_index: logIndex,
  payer_address: payerAddress === ZERO_ADDRESS ? null : payerAddress,
  amount: formatUsdc(units),
})

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

const orderBody = (order: Order, { customer, fiscalDocument }: Invoicing): DossierOrder => ({
  id: order.id,
  external_ref: order.externalRef,
  description: order.description,
  brl_amount: formatBrl(order.brlCentavos),
  usdc_amount: formatUsdc(order.usdcUnits),
  rate: formatRate(order.rateMicros),
  created_at: order.createdAt.toISOString(),
  paid_at: order.paidAt?.toISOString() ?? null,
  customer: customer && { name: customer.name, email: customer.email, tax_id: customer.tax_id, resident: customer.resident },
  fiscal_document: fiscalDocument && { kind: fiscalDocument.kind, key: fiscalDocument.key },
})

export const countedOf = (chosen: readonly Chosen[]): Map<number, bigint> =>
  new Map(chosen.map(({ sequence, counted }) => [sequence, counted]))
