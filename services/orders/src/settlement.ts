import type { OrderException, OrderStatus } from '@ponte/contracts'

export interface Payment {
  id: string
  revision: number
  status: 'detected' | 'confirmed' | 'orphaned'
  /** Merchant share in USDC base units. */
  shareUnits: bigint
  payerAddress: string
  txHash: string
  blockNumber: bigint
  /** When the payer paid: of a swept deposit, when he sent it, not when we swept it. */
  blockTime: Date
  /** Payments that this one stands for: transfers to a deposit address, by the sweep that took them. */
  replaces?: readonly string[]
}

/** The closed set that the database keeps as text. */
export function paymentStatus(status: string): Payment['status'] {
  if (status === 'detected' || status === 'confirmed' || status === 'orphaned') return status
  throw new Error(`A payment cannot be ${status}.`)
}

export interface Terms {
  expectedUnits: bigint
  expiresAt: Date
  /** The merchant's command. */
  cancelledAt: Date | null
  /** Since when another order of the same subscription period is paid instead. */
  supersededAt: Date | null
  /** When the merchant was told `paid`, and `expired`; what was told is a fact like any other. */
  paidAt: Date | null
  expiredAt: Date | null
  /** The received amount that the merchant was last told is too little; 0 when never. */
  toldUnits: bigint
}

export interface Verdict {
  status: OrderStatus
  exception: OrderException | null
  /** C: the sum of confirmed merchant shares. */
  receivedUnits: bigint
  /** The transaction that completed the order, or the last confirmed one while it is short; null without any. */
  txHash: string | null
  /** True when no payment is still unconfirmed. */
  settled: boolean
  confirmed: readonly Payment[]
}

/**
 * The state of an order as a pure function of its terms, its ledger, the merchant's command and the confirmed chain time
 * (design, section 6). The order in which the facts arrived plays no part. C, D and E are the design's letters.
 */
export function settle(terms: Terms, payments: readonly Payment[], chainTime: Date | null): Verdict {
  const live = livePayments(payments)
  const confirmed = live.filter(payment => payment.status === 'confirmed').sort(byTime)
  const [C, D, E] = [sum(confirmed), sum(live), terms.expectedUnits]
  const completing = completingPayment(confirmed, E)
  const settled = confirmed.length === live.length
  const status = statusOf(terms, { C, D, settled, completing, chainTime })
  return {
    status,
    exception: exceptionOf(terms, status, { C, confirmed, completing }),
    receivedUnits: C,
    txHash: (completing ?? confirmed.at(-1))?.txHash ?? null,
    settled,
    confirmed,
  }
}

/** Those that count: part of the chain, and not replaced by one that is. */
export function livePayments(payments: readonly Payment[]): Payment[] {
  const onChain = payments.filter(payment => payment.status !== 'orphaned')
  const replaced = new Set(onChain.flatMap(payment => payment.replaces ?? []))
  return onChain.filter(payment => !replaced.has(payment.id))
}

interface Ledger {
  C: bigint
  D: bigint
  settled: boolean
  completing: Payment | undefined
  chainTime: Date | null
}

function statusOf(terms: Terms, { C, D, settled, completing, chainTime }: Ledger): OrderStatus {
  const E = terms.expectedUnits
  const past = chainTime !== null && chainTime > terms.expiresAt
  if (terms.cancelledAt !== null) return 'cancelled'
  if (completing && completing.blockTime <= terms.expiresAt) return 'paid'
  // Told once: a late payment on its way must not make the order expire a second time.
  if (terms.expiredAt !== null) return 'expired'
  if (D >= E && C < E) return 'confirming'
  if (past) return 'expired'
  // Complete but late: only the confirmed chain time may say that the order has expired, since an earlier payment may still be on its way to us.
  if (D >= E) return 'confirming'
  if (C > 0n && (settled || terms.toldUnits > 0n)) return 'underpaid'
  return 'pending'
}

function exceptionOf(
  terms: Terms,
  status: OrderStatus,
  ledger: { C: bigint; confirmed: Payment[]; completing: Payment | undefined },
): OrderException | null {
  const E = terms.expectedUnits
  if (status === 'paid') {
    const rest = ledger.completing ? ledger.confirmed.slice(ledger.confirmed.indexOf(ledger.completing) + 1) : []
    if (terms.supersededAt || rest.some(payment => payment.shareUnits >= E)) return 'duplicate'
    return ledger.C > E ? 'overpaid' : null
  }
  if (status === 'cancelled' && ledger.C > 0n) return 'paid_after_cancel'
  if (terms.paidAt !== null) return 'reorged'
  return status === 'expired' && ledger.C >= E ? 'paid_late' : null
}

/** The confirmed payment, in the order in which they were paid, with which the sum first reaches what is owed. */
function completingPayment(confirmed: readonly Payment[], expectedUnits: bigint): Payment | undefined {
  let total = 0n
  return confirmed.find(payment => {
    total += payment.shareUnits
    return total >= expectedUnits
  })
}

const sum = (payments: readonly Payment[]) => payments.reduce((total, payment) => total + payment.shareUnits, 0n)

// A deposit counts from when it was sent, not from its sweep: what was sent in time must not stand behind a late payment in an earlier block.
const byTime = (a: Payment, b: Payment) => {
  if (a.blockTime.getTime() !== b.blockTime.getTime()) return a.blockTime < b.blockTime ? -1 : 1
  if (a.blockNumber !== b.blockNumber) return a.blockNumber < b.blockNumber ? -1 : 1
  return a.id < b.id ? -1 : 1
}
