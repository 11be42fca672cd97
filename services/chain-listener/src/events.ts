import { type ChainPayment, type ChainSweep, type DepositBlocked, formatUsdc, type NewEvent } from '@ponte/contracts'
import type { Fact, Payment } from './payment'

export interface Naming {
  chainId: number
  token: string
  checksum(address: string): string
}

/** A change in whether a deposit can be swept, not yet published. Addresses are lower-case. */
export interface BlockedDeposit {
  orderId: string
  memo: string
  merchant: string
  address: string
  reason: DepositBlocked['reason']
  revision: number
}

/** What one step publishes, beside `chain.advanced`. */
export interface Publication {
  facts: readonly Fact[]
  /** Orders whose deposit addresses are read in every block from this step on. */
  synced?: readonly string[] | undefined
  blocked?: readonly BlockedDeposit[] | undefined
}

const ORDERS_IN_AN_EVENT = 1_000

/** Events numbered on from `sequence`, the last number used on this chain. Payments come before the event by which all of them are known. */
export function toEvents({ facts, synced = [], blocked = [] }: Publication, naming: Naming, sequence: number): NewEvent[] {
  const { chainId, checksum } = naming
  const events: NewEvent[] = facts.map((fact, index) => toEvent(fact, naming, sequence + index + 1))
  for (let first = 0; first < synced.length; first += ORDERS_IN_AN_EVENT) {
    const order_ids = synced.slice(first, first + ORDERS_IN_AN_EVENT)
    events.push({ type: 'deposit.synced', data: { chain_id: chainId, sequence: sequence + events.length + 1, order_ids } })
  }
  for (const { orderId, memo, merchant, address, reason, revision } of blocked) {
    const data: DepositBlocked = {
      chain_id: chainId,
      sequence: sequence + events.length + 1,
      revision,
      order_id: orderId,
      memo,
      merchant_address: checksum(merchant),
      deposit_address: checksum(address),
      reason,
    }
    events.push({ type: 'deposit.blocked', data })
  }
  return events
}

const toEvent = (fact: Fact, naming: Naming, sequence: number): NewEvent =>
  fact.type === 'sweep.confirmed' || fact.type === 'sweep.orphaned'
    ? { type: fact.type, data: toSweep(fact.payment, naming, sequence) }
    : { type: fact.type, data: toPayment(fact.payment, naming, sequence) }

// Both are written out field by field: while catching up this runs for every payment.
function toPayment(payment: Payment, { chainId, token, checksum }: Naming, sequence: number): ChainPayment {
  return {
    payment_id: idOf(chainId, payment),
    sequence,
    revision: payment.revision,
    chain_id: chainId,
    kind: payment.kind === 'transfer' ? 'transfer' : 'router',
    router_address: checksum(payment.router),
    token_address: checksum(token),
    memo: payment.memo,
    merchant_address: checksum(payment.merchant),
    deposit_address: payment.deposit === null ? null : checksum(payment.deposit),
    payer_address: checksum(payment.payer),
    amount: formatUsdc(payment.amount),
    tx_hash: payment.txHash,
    block_number: payment.blockNumber,
    block_hash: payment.blockHash,
    block_time: toTime(payment.blockTime),
    log_index: payment.logIndex,
  }
}

function toSweep(sweep: Payment, { chainId, token, checksum }: Naming, sequence: number): ChainSweep {
  return {
    sweep_id: idOf(chainId, sweep),
    sequence,
    revision: sweep.revision,
    chain_id: chainId,
    router_address: checksum(sweep.router),
    token_address: checksum(token),
    memo: sweep.memo,
    merchant_address: checksum(sweep.merchant),
    deposit_address: checksum(sweep.payer),
    amount: formatUsdc(sweep.amount),
    tx_hash: sweep.txHash,
    block_number: sweep.blockNumber,
    block_hash: sweep.blockHash,
    block_time: toTime(sweep.blockTime),
    log_index: sweep.logIndex,
  }
}

const idOf = (chainId: number, { txHash, ordinal }: Payment) => `${chainId}:${txHash}:${ordinal}`

let formatted = { seconds: 0, time: new Date(0).toISOString() }
/** Payments of one block follow each other and share its time, whose formatting is slow. */
function toTime(seconds: number): string {
  if (formatted.seconds !== seconds) formatted = { seconds, time: new Date(seconds * 1_000).toISOString() }
  return formatted.time
}
