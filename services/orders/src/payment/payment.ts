export type PaymentKind = 'router' | 'transfer'
export type PaymentStatus = 'detected' | 'confirmed' | 'orphaned'

/** Where something stands on the chain. */
export interface Position {
  id: string
  blockNumber: bigint
  blockTime: Date
  logIndex: number
}

/** Money that left a payer for an order, as the listener last reported it. */
export interface Payment extends Position {
  kind: PaymentKind
  revision: number
  status: PaymentStatus
  /** What left the payer, platform fee included, in USDC base units. */
  grossUnits: bigint
  /** Of a transfer, `from` of its log; the zero address for a mint. */
  payerAddress: string
  /** Where a transfer went; null for a router payment. */
  depositAddress: string | null
  txHash: string
}

/** The closed set that the database keeps as text. */
export function paymentStatus(status: string): PaymentStatus {
  if (status === 'detected' || status === 'confirmed' || status === 'orphaned') return status
  throw new Error(`A payment cannot be ${status}.`)
}

/** The closed set that the database keeps as text. */
export function paymentKind(kind: string): PaymentKind {
  if (kind === 'router' || kind === 'transfer') return kind
  throw new Error(`A payment cannot be by ${kind}.`)
}

/** By block time, then the place on the chain. The id decides between logs of equal blocks on both sides of a reorg. */
export function inChainOrder(a: Position, b: Position): number {
  if (a.blockTime.getTime() !== b.blockTime.getTime()) return a.blockTime < b.blockTime ? -1 : 1
  if (a.blockNumber !== b.blockNumber) return a.blockNumber < b.blockNumber ? -1 : 1
  if (a.logIndex !== b.logIndex) return a.logIndex - b.logIndex
  return a.id < b.id ? -1 : 1
}

export const livePayments = (payments: readonly Payment[]): Payment[] => payments.filter(({ status }) => status !== 'orphaned')
export const confirmedPayments = (payments: readonly Payment[]): Payment[] => payments.filter(({ status }) => status === 'confirmed')

export const sumUnits = (payments: readonly { grossUnits: bigint }[]): bigint =>
  payments.reduce((total, { grossUnits }) => total + grossUnits, 0n)

/** The payments with one as it is reported now; an older revision of the same payment changes nothing. */
export function withPayment(payments: readonly Payment[], reported: Payment): Payment[] {
  const known = payments.find(({ id }) => id === reported.id)
  if (known && known.revision >= reported.revision) return [...payments]
  return [...payments.filter(({ id }) => id !== reported.id), reported]
}

/**
 * A payment under the id by which its order has it. What a payment moves never changes under one id, but a listener whose database was restored may number
 * the payments of one transaction in another order: what stands at the same place of the same transaction and moves the same money is the same payment.
 * Other money under an id that this order has already, or that is `taken` by another, has an id of its own.
 */
export function underKnownId(payments: readonly Payment[], reported: Payment, memo: string, taken: ReadonlySet<string>): Payment {
  const named = payments.find(({ id }) => id === reported.id)
  if (named && named.grossUnits === reported.grossUnits) return reported
  const known = payments.find(payment => payment.status !== 'orphaned' && isSameMoney(payment, reported))
  if (known) return { ...reported, id: known.id }
  const own = { ...reported, id: `${reported.id}:${memo}:${reported.grossUnits}` }
  return named || taken.has(reported.id) || payments.some(({ id }) => id === own.id) ? own : reported
}

/** Whether two logs are one: the same place on the same chain. */
export const isSamePlace = (
  a: Pick<Payment, 'txHash' | 'blockNumber' | 'logIndex'>,
  b: Pick<Payment, 'txHash' | 'blockNumber' | 'logIndex'>,
): boolean => a.txHash === b.txHash && a.blockNumber === b.blockNumber && a.logIndex === b.logIndex

const isSameMoney = (a: Payment, b: Payment): boolean =>
  isSamePlace(a, b) && a.kind === b.kind && a.grossUnits === b.grossUnits && a.payerAddress === b.payerAddress
