import { chainIdOf, type ExplanationBody, type ExplanationCode, formatUsdc, type TransactionFacts } from '@ponte/contracts'
import { mismatchOf } from '../payment/mismatch'
import {
  confirmedPayments,
  type Destination,
  destinationOf,
  destinationsOf,
  livePayments,
  type Payable,
  type Payment,
  sumUnits,
} from '../payment/payment'
import { type Place, placeOf } from './body'
import type { Order } from './order'
import { requiredUnits } from './verdict'

/** Where an order is paid, and by which memo. */
type Payee = Destination & Pick<Order, 'id' | 'merchantId' | 'memo'>

export interface Quoted {
  order: Order
  payments: readonly Payment[]
  txHash: string
  /** As enough nodes show it; null while they were not asked. */
  transaction: TransactionFacts | null
  others: readonly (Payee & Payable)[]
  /** The merchant who asks; null for a payer. */
  merchantId: string | null
  /** The head of each chain. */
  heads: ReadonlyMap<number, bigint>
  place: Place
}

/** Why a transaction did or did not pay an order. What is on record for the order answers first. Null where the nodes have to be asked. */
export function explain(quoted: Quoted): ExplanationBody | null {
  const { order, txHash, transaction } = quoted
  const found = recordedIn(quoted) ?? (transaction && shownIn(quoted, transaction))
  if (!found) return null
  const absent = { amount: null, confirmations: null, short_by: null, token_address: null, recipient_address: null, other_order_id: null }
  return { object: 'explanation', order_id: order.id, tx_hash: txHash, ...absent, ...found }
}

type Found = Partial<ExplanationBody> & { code: ExplanationCode; detail: string }

/** Where the transaction is; named only where several networks are followed. */
const network = (chainId: number, { place }: Quoted) =>
  place.networks.size === 1 ? {} : { network: placeOf(chainId, place).network, chain_id: chainId }

const listed = new Intl.ListFormat('en', { type: 'disjunction' })
const offered = ({ order, place }: Quoted) => listed.format(destinationsOf(order).map(({ chainId }) => placeOf(chainId, place).network))

function recordedIn(quoted: Quoted): Found | null {
  const { order, payments, txHash, heads, place } = quoted
  const recorded = livePayments(payments).filter(payment => payment.txHash === txHash)
  const [last] = recorded.slice(-1)
  if (!last) return null
  const chainId = chainIdOf(last.id) ?? order.chainId
  const counted = { amount: formatUsdc(sumUnits(recorded)), ...network(chainId, quoted) }
  if (confirmedPayments(recorded).length > 0) return { ...standing(order, last.blockTime), ...counted }
  const depth = Number((heads.get(chainId) ?? 0n) - last.blockNumber) + 1
  return { ...coming(order, last.blockTime, depth, placeOf(chainId, place).confirmations), ...counted }
}

function shownIn(quoted: Quoted, transaction: TransactionFacts): Found {
  const { order, others, place } = quoted
  const { chain_id: chainId, status } = transaction
  const names = offered(quoted)
  if (status === 'not_found')
    return {
      code: 'not_found',
      detail: `No transaction with this hash is known on ${names}; check the hash, and the network that it was sent on.`,
    }
  const on = network(chainId, quoted)
  const [here] = offeredOn(order, chainId)
  if (!here) {
    const units = order.networks.reduce(
      (sum, one) => (one.chainId === chainId ? unitsFor({ ...order, ...destinationOf(order, one) }, transaction) : sum),
      0n,
    )
    if (units > 0n)
      return {
        ...{ code: 'wrong_network', amount: formatUsdc(units), ...on },
        detail: `It was sent for this order on ${on.network}, which the order does not offer: its merchant can count it for the order, or return it.`,
      }
    const where = on.network ?? `another network than ${names}`
    const detail = on.network
      ? `It was sent on ${where}, and the order is paid on ${names}.`
      : `It was sent on ${where}, where the order is paid.`
    return { code: 'wrong_network', detail, ...on }
  }
  const required = placeOf(chainId, place).confirmations
  return { ...judged(here, { ...quoted, required, others: others.flatMap(other => offeredOn(other, chainId)) }, transaction), ...on }
}

/** With the terms of that chain in place of the first one's; nothing where it may not be paid there. */
const offeredOn = <T extends Payable>(payee: T, chainId: number): T[] =>
  destinationsOf(payee).flatMap(destination => (destination.chainId === chainId ? [{ ...payee, ...destination }] : []))

function judged(
  order: Order,
  { others, merchantId, required }: Pick<Quoted, 'merchantId'> & { others: readonly Payee[]; required: number },
  transaction: TransactionFacts,
): Found {
  const { status, depth } = transaction
  if (status === 'pending') return unconfirmed(0, required)
  if (status === 'reverted') return { code: 'reverted', detail: 'It failed on the network, and no USDC left the wallet that sent it.' }
  const at = new Date(transaction.block_time ?? 0)
  const units = unitsFor(order, transaction)
  if (units > 0n) return { ...coming(order, at, depth, required), amount: formatUsdc(units) }
  if (paymentsOf(order, transaction, true).length > 0) return depth < required ? unconfirmed(depth, required) : swept(order)
  const paid = others.filter(other => unitsFor(other, transaction) > 0n || paymentsOf(other, transaction, true).length > 0)
  const own = paid.find(other => other.merchantId === merchantId)
  if (paid.length > 0) return { code: 'other_order', detail: 'It paid another order than this one.', other_order_id: own?.id ?? null }
  return elsewhere(order, transaction, required)
}

/** Confirmed: what the order's own state makes of it. */
function standing(order: Order, at: Date): Found {
  if (order.status === 'paid') {
    const surplus = order.exception === null ? '' : ' More came for it than it asks for.'
    return { code: 'settled', detail: `The order is paid, and this transaction is on record for it.${surplus}` }
  }
  // Enough came, and the order is not paid by it: the rest was late.
  if (isLate(order, at) || order.confirmedUnits >= requiredUnits(order)) return late(order)
  const shortBy = formatUsdc(order.usdcUnits - order.confirmedUnits)
  return {
    code: 'short',
    short_by: shortBy,
    detail: `It is on record for the order, and ${shortBy} USDC of the order's amount is not confirmed yet.`,
  }
}

function coming(order: Order, at: Date, depth: number, required: number): Found {
  return isLate(order, at) ? late(order) : unconfirmed(depth, required)
}

/** The money's way on to the merchant, which its payer never sent. */
function swept(order: Order): Found {
  // When it was swept plays no part in when it was paid.
  const found = standing(order, order.expiresAt)
  return found.code === 'settled'
    ? { ...found, detail: 'The order is paid, and this transaction moved its money on to the merchant.' }
    : found
}

const isLate = ({ status, expiresAt }: Order, at: Date) => status === 'cancelled' || (status !== 'paid' && at > expiresAt)

const late = ({ status }: Order): Found => ({
  code: 'late',
  detail: `It came for the order after it ${status === 'cancelled' ? 'was cancelled' : 'had expired'}; the merchant can accept the money as payment, or return it.`,
})

function unconfirmed(depth: number, required: number): Found {
  const seen = Math.max(0, Math.min(depth, required))
  const rest = seen < required ? 'the order counts it once it has them all' : 'the order shows it within a minute or so'
  return {
    code: 'unconfirmed',
    confirmations: { seen, required },
    detail: seen === 0 ? 'It waits to be taken into a block of the network.' : `It has ${seen} of ${required} confirmations; ${rest}.`,
  }
}

/** It pays no order here. */
function elsewhere(order: Order, { chain_id, transfers, payments, depth }: TransactionFacts, required: number): Found {
  const strays = payments.filter(one => !one.is_sweep && mismatchOf(targetOf(one, chain_id), order) === null)
  if (strays.length > 0) {
    const amount = formatUsdc(sumOf(strays))
    const detail = `It paid the merchant ${amount} USDC with the memo of no order; the merchant can count it for this one.`
    return { code: 'unknown_memo', amount, detail }
  }
  const foreign = transfers.find(
    ({ token_address, to_address }) => isSame(to_address, order.depositAddress) && !isSame(token_address, order.tokenAddress),
  )
  if (foreign) {
    const what = foreign.token_address === null ? "the network's own coin" : `another token, ${foreign.token_address},`
    return {
      code: 'wrong_token',
      token_address: foreign.token_address,
      detail: `It sent ${what} to the address of the order, which takes only USDC; the merchant can recover it from there${depth < required ? ` once it has ${required} confirmations` : ''}.`,
    }
  }
  const sent = transfers.filter(({ token_address }) => isSame(token_address, order.tokenAddress))
  const [recipient, ...more] = new Set(payments.length > 0 ? payments.map(one => one.merchant_address) : sent.map(one => one.to_address))
  if (recipient === undefined || more.length > 0)
    return {
      code: 'wrong_recipient',
      detail: `It sent ${recipient === undefined ? 'no USDC' : 'USDC elsewhere, and none'} to where the order is paid.`,
    }
  const amount = formatUsdc(sumOf(payments.length > 0 ? payments : sent))
  return {
    ...{ code: 'wrong_recipient', recipient_address: recipient, amount },
    detail: `It sent ${amount} USDC to ${recipient}, and none to where the order is paid.`,
  }
}

const unitsFor = (payee: Payee, transaction: TransactionFacts): bigint =>
  sumOf(transfersTo(payee, transaction)) + sumOf(paymentsOf(payee, transaction, false))

const transfersTo = (payee: Payee, { transfers }: TransactionFacts) =>
  transfers.filter(({ token_address, to_address }) => isSame(token_address, payee.tokenAddress) && isSame(to_address, payee.depositAddress))

const paymentsOf = (payee: Payee, { chain_id, payments }: TransactionFacts, sweeps: boolean) =>
  payments.filter(
    one =>
      one.is_sweep === sweeps &&
      one.memo === payee.memo &&
      mismatchOf(targetOf(one, chain_id), { ...payee, merchantAddresses: {}, networks: [] }) === null,
  )

const targetOf = (one: TransactionFacts['payments'][number], chainId: number): Destination & { grossUnits: bigint } => ({
  chainId,
  tokenAddress: one.token_address,
  routerAddress: one.router_address,
  merchantAddress: one.merchant_address,
  depositAddress: null,
  grossUnits: BigInt(one.units),
})

const sumOf = (ones: readonly { units: string }[]): bigint => ones.reduce((sum, { units }) => sum + BigInt(units), 0n)
const isSame = (a: string | null, b: string | null) => a !== null && b !== null && a.toLowerCase() === b.toLowerCase()
