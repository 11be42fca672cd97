import type { CheckoutBody, PayerSubscriptionBody } from '@ponte/contracts'
import { PAYER } from '../../world'

// States of a page that otherwise last a moment or need a day, with figures that agree with one another.

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

export const nothingDue = ({ charges }: PayerSubscriptionBody): Partial<PayerSubscriptionBody> => ({
  due: null,
  charges: charges.map(charge => ({ ...charge, status: 'paid', paid_at: charge.issued_at })),
})
export const unpaid = ({ brl_amount }: PayerSubscriptionBody): Partial<PayerSubscriptionBody> => ({
  due: { brl_amount, checkout_url: null, can_be_asked: true },
})
