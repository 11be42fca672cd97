import { type BlockPayment, type BlockSweep, type ChainBlocks, formatUsdc } from '@ponte/contracts'
import { byPlace } from './logs/payment-received'
import type { Payment } from './payment'

export interface Naming {
  chainId: number
  token: string
  checksum(address: string): string
}

/** Blocks that are confirmed now, and the time of the last in Unix seconds. */
export interface Advance {
  from: number
  to: number
  time: number
}

/** An order that is read without a gap through a block, with all its payments; or, through -1, is not any more. */
export interface Watched {
  orderId: string
  through: number
  payments: readonly Payment[]
}

export interface Publication {
  advanced: Advance | null
  gone: readonly string[]
  /** Live payments and sweeps that the step learnt of; all of those in the blocks that advance are among them. */
  stated: readonly Payment[]
  watched: readonly Watched[]
}

/** Under which history, lease and version a step is published. */
export type Statement = Pick<ChainBlocks, 'generation' | 'lease' | 'version' | 'earlier' | 'since' | 'head'>

/** A part of the step. It is to be taken after so many before it, which hold the rest of what it states. */
export type BlocksDraft = ChainBlocks & { partsBefore?: number }

const PAYMENTS_IN_AN_EVENT = 300
/** Some 4 MB: brokers refuse messages of 16 MB, and anyone can make any number of payments in one block, or to one order. */
const PAYMENTS_MAX = 5_000
const ORDERS_IN_AN_EVENT = 500

/** The step as events of whole blocks, and of whole orders: all payments of either are judged together, unless they are too many for one event. */
export function toEvents(publication: Publication, naming: Naming, statement: Statement, paymentsMax = PAYMENTS_MAX): BlocksDraft[] {
  const event = (advanced: Advance | null, payments: readonly Payment[], more: Partial<Pick<ChainBlocks, 'gone' | 'watched'>> = {}) => ({
    chain_id: naming.chainId,
    ...statement,
    advanced: advanced && { from: advanced.from, to: advanced.to, time: toTime(advanced.time) },
    gone: more.gone ?? [],
    payments: payments.flatMap(payment => (payment.kind === 'sweep' ? [] : [toPayment(payment, naming)])),
    sweeps: payments.flatMap(payment => (payment.kind === 'sweep' && payment.state === 'confirmed' ? [toSweep(payment, naming)] : [])),
    watched: more.watched ?? [],
  })
  const inParts = (advanced: Advance | null, payments: readonly Payment[], more?: Pick<ChainBlocks, 'watched'>): BlocksDraft[] => {
    const before = Math.max(0, Math.ceil(payments.length / paymentsMax) - 1)
    if (before === 0) return [event(advanced, payments, more)]
    const parts = Array.from({ length: before }, (_, index) => event(null, payments.slice(index * paymentsMax, (index + 1) * paymentsMax)))
    return [...parts, { ...event(advanced, payments.slice(before * paymentsMax), more), partsBefore: before }]
  }
  const { advanced, gone } = publication
  const isAdvancing = ({ blockNumber }: Payment) => advanced !== null && blockNumber >= advanced.from && blockNumber <= advanced.to
  const ranges = inBlocks(publication.stated.filter(isAdvancing))
  const events = ranges.flatMap((payments, index) => {
    const last = payments.at(-1)
    const isLast = index === ranges.length - 1 || !last
    const from = index === 0 ? (advanced?.from ?? 0) : (ranges[index - 1]?.at(-1)?.blockNumber ?? 0) + 1
    const to = isLast ? { to: advanced?.to ?? 0, time: advanced?.time ?? 0 } : { to: last.blockNumber, time: last.blockTime }
    return inParts({ from, ...to }, payments)
  })
  if (advanced && events.length === 0) events.push(event(advanced, []))
  for (const payments of inBlocks(publication.stated.filter(payment => !isAdvancing(payment)))) events.push(...inParts(null, payments))
  const [first] = events
  if (first && gone.length > 0) first.gone = [...gone]
  else if (gone.length > 0) events.push(event(null, [], { gone: [...gone] }))
  for (const some of inOrders(publication.watched)) {
    const watched = some.map(({ orderId, through }) => ({ order_id: orderId, through }))
    events.push(...inParts(null, some.flatMap(({ payments }) => payments).toSorted(byPlace), { watched }))
  }
  return events
}

/** In the chain's order, a block never in two parts. */
function inBlocks(payments: readonly Payment[]): Payment[][] {
  const parts: Payment[][] = []
  let part: Payment[] = []
  for (const payment of payments.toSorted(byPlace)) {
    if (part.length >= PAYMENTS_IN_AN_EVENT && part.at(-1)?.blockNumber !== payment.blockNumber) {
      parts.push(part)
      part = []
    }
    part.push(payment)
  }
  return part.length > 0 ? [...parts, part] : parts
}

function inOrders(watched: readonly Watched[]): Watched[][] {
  const parts: Watched[][] = []
  let part: Watched[] = []
  let payments = 0
  for (const one of watched) {
    part.push(one)
    payments += one.payments.length
    if (payments < PAYMENTS_IN_AN_EVENT && part.length < ORDERS_IN_AN_EVENT) continue
    parts.push(part)
    part = []
    payments = 0
  }
  return part.length > 0 ? [...parts, part] : parts
}

// Both are written out field by field: while catching up this runs for every payment.
const toPayment = (payment: Payment, { token, checksum }: Naming): BlockPayment => ({
  kind: payment.kind === 'transfer' ? 'transfer' : 'router',
  is_confirmed: payment.state === 'confirmed',
  block_number: payment.blockNumber,
  block_hash: payment.blockHash,
  block_time: toTime(payment.blockTime),
  log_index: payment.logIndex,
  tx_hash: payment.txHash,
  memo: payment.memo,
  router_address: checksum(payment.router),
  token_address: checksum(token),
  merchant_address: checksum(payment.merchant),
  deposit_address: payment.deposit === null ? null : checksum(payment.deposit),
  payer_address: checksum(payment.payer),
  amount: formatUsdc(payment.amount),
})

const toSweep = (sweep: Payment, { token, checksum }: Naming): BlockSweep => ({
  block_number: sweep.blockNumber,
  block_hash: sweep.blockHash,
  block_time: toTime(sweep.blockTime),
  log_index: sweep.logIndex,
  tx_hash: sweep.txHash,
  memo: sweep.memo,
  router_address: checksum(sweep.router),
  token_address: checksum(token),
  merchant_address: checksum(sweep.merchant),
  deposit_address: checksum(sweep.payer),
  payer_address: checksum(sweep.payer),
  amount: formatUsdc(sweep.amount),
  fee: sweep.fee === null ? null : formatUsdc(sweep.fee),
})

let formatted = { seconds: 0, time: new Date(0).toISOString() }
/** Payments of one block follow each other and share its time, whose formatting is slow. */
function toTime(seconds: number): string {
  if (formatted.seconds !== seconds) formatted = { seconds, time: new Date(seconds * 1_000).toISOString() }
  return formatted.time
}
