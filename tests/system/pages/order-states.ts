import type { CheckoutBody, EntryBody, ExportBody, PayerSubscriptionBody } from '@ponte/contracts'
import { PAYER } from '../../world'

// States of a page that otherwise last a moment or need a day, with figures that agree with one another.

const SOME_ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'

type Payment = CheckoutBody['payments'][number]
type State = (order: CheckoutBody) => Partial<CheckoutBody>

const asOf = ({ quote }: CheckoutBody, laterS = 0): string => new Date(Date.parse(quote.as_of) + laterS * 1_000).toISOString()

/** A transfer to the address of the order, on another transaction than its payments. */
function transfer(order: CheckoutBody, amount: string, status: Payment['status'] = 'confirmed'): Payment {
  const tx_hash = `0x${order.memo}`
  return {
    ...{ kind: 'transfer', tx_hash, status, amount, payer_address: PAYER.address, block_number: 40, block_time: asOf(order, 8) },
    settlement: status === 'confirmed' ? { status: 'settled', tx_hash } : { status: 'pending', tx_hash: null },
  }
}
const andOne = (order: CheckoutBody, amount: string, status?: Payment['status']) => [...order.payments, transfer(order, amount, status)]

export const confirming: State = order => ({
  ...{ status: 'confirming', confirmations: { seen: 1, required: 3 }, due: '0.000000' },
  payments: andOne(order, order.usdc_amount, 'detected'),
})
export const overpaid: State = order => ({ exception: 'overpaid', payments: andOne(order, '20.000000') })
export const duplicate: State = order => ({ exception: 'duplicate', payments: andOne(order, order.usdc_amount) })
export const expired: State = order => ({ status: 'expired', expires_at: asOf(order) })
export const timeUp: State = order => ({ expires_at: asOf(order) })
export const paidLate: State = order => ({ ...expired(order), exception: 'paid_late', payments: andOne(order, order.usdc_amount) })
export const paidAfterCancel: State = order => ({ exception: 'paid_after_cancel', payments: andOne(order, order.usdc_amount) })
export const reorged: State = order => ({ exception: 'reorged', payments: andOne(order, order.due, 'orphaned') })
export const signatureFailed: State = order => ({
  authorization: {
    ...{ status: 'failed', amount: order.due, tx_hash: null, reason: 'reverted' },
    valid_before: Math.floor(Date.parse(asOf(order, 1_800)) / 1_000),
  },
})

/** The same address on three networks, of which the first is relayed without gas and the third stands still. */
export function onThreeNetworks(orderId: string): CheckoutBody['payment'] {
  const first = {
    ...{ network: 'base', chain_id: 8_453, gasless: true, router_address: PAYER.address, deposit_address: PAYER.address },
    ...{
      token_address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payment_uri: null,
      confirmations: 12,
      typical_seconds: 24,
      suspended: false,
    },
  }
  const second = {
    ...{ ...first, network: 'polygon', chain_id: 137, gasless: false, confirmations: 32, typical_seconds: 64 },
    ...{ token_address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359' },
  }
  const third = { ...second, network: 'arbitrum', chain_id: 42_161, confirmations: 120, typical_seconds: 30, suspended: true }
  const { confirmations: _, typical_seconds: __, suspended: ___, ...terms } = first
  const checkout_url = `https://pay.ponte.example/pay/${orderId}`
  return { ...terms, merchant_address: PAYER.address, checkout_url, networks: [first, second, third] }
}

export const nothingDue = ({ charges }: PayerSubscriptionBody): Partial<PayerSubscriptionBody> => ({
  due: null,
  charges: charges.map(charge => ({ ...charge, status: 'paid', paid_at: charge.issued_at })),
})
export const unpaid = ({ brl_amount }: PayerSubscriptionBody): Partial<PayerSubscriptionBody> => ({
  due: { brl_amount, checkout_url: null, can_be_asked: true },
})

/** A month of orders that were paid out, two hours apart. */
export const manyEntries = (count: number): EntryBody[] =>
  Array.from({ length: count }, (_, n) => {
    const at = new Date(Date.UTC(2026, 10, 1, 12 + 2 * n)).toISOString()
    const brl = `${148 + n}.50`
    return {
      ...{ object: 'entry', sequence: n + 1, cursor: String(n + 1), kind: 'settled', amount: `${20 + n}.398525`, brl_amount: brl },
      ...{ market_rate: '5.420000', market_brl_amount: brl, ptax_rate: null, ptax_date: null },
      ...{ from_account: 'received', to_account: 'payout', order_id: SOME_ID, reverses: null, reason: null },
      ...{ at, block_time: at, booked_at: at, chain_id: 31_337, block_number: n, log_index: 0 },
      ...{ tx_hash: `0x${(n + 1).toString(16).padStart(64, '5d')}`, payer_address: PAYER.address, address: PAYER.address },
    }
  })

export const largeDossier: ExportBody = {
  ...{
    object: 'export',
    id: SOME_ID,
    status: 'ready',
    format: 'dossier_pdf',
    form: 'brazilian',
    kind: null,
    order_id: null,
    chain_id: 31_337,
  },
  ...{ at_gte: null, at_lt: null, amount: '48210.500000', payout_address: PAYER.address, entries: null, through: 4_200 },
  ...{ rows: 1_000, rows_total: 1_000, size: 21_000_000, failure: null, file_url: null },
  ...{ created_at: '2026-11-22T12:00:00.000Z', ready_at: '2026-11-22T12:01:00.000Z', expires_at: '2026-11-24T12:00:00.000Z' },
}
