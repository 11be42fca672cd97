import { id as keccak } from 'ethers'
import { type Networks, offerOn, orderPayoutOn, type Retired } from './networks'
import { groupBy, lower, millis, type Row, seconds, text, units, unlike } from './rows'

export interface ReturnBooks {
  /** As orders has them, with every signature that it saw. */
  refunds: readonly Row[]
  signatures: readonly Row[]
  /** The listeners', of every network. */
  watches: readonly Row[]
  orders: readonly Row[]
  payments: readonly Row[]
  networks: Networks
  retired: Retired
  now: number
  isForgotten(id: unknown): boolean
}

const MINUTE_MS = 60_000
/** The end of what was seen on the chain alone. */
const isUnknown = ({ valid_before }: Row) => new Date(millis(valid_before)).getUTCFullYear() === 9999

/** Each return of orders is watched by the listener under the same terms, and is what it last stated; no order returns more than came for it. */
export function returnsAgainstListener(books: ReturnBooks): string[] {
  const { refunds, watches, networks, isForgotten } = books
  const watched = new Map(watches.map(row => [String(row.refund_id), row]))
  const orders = new Map(books.orders.map(row => [String(row.id), row]))
  const signed = groupBy(books.signatures, row => String(row.refund_id))
  const differences: string[] = []
  for (const refund of refunds) {
    const about = `refund ${refund.id}`
    const generation = networks.get(String(refund.chain_id))?.generation ?? null
    const watch = watched.get(String(refund.id))
    const seen = signed.get(String(refund.id)) ?? []
    watched.delete(String(refund.id))
    signed.delete(String(refund.id))
    differences.push(...termsDifferences(about, refund, orders.get(String(refund.order_id))))
    if (books.retired.has(String(refund.chain_id))) continue
    if (watch) differences.push(...statementDifferences(about, refund, watch, generation), ...signedDifferences(about, refund, seen, watch))
    // A refund that ended in an earlier history of the listener is not asked about again.
    else if (refund.ended === null || refund.generation === generation) differences.push(`returns: the listener does not watch ${about}`)
    differences.push(...approvalDifferences(about, refund, books.now))
    differences.push(...cancelDifferences(about, refund, seen, books.now))
  }
  for (const id of [...watched.keys(), ...signed.keys()])
    if (!isForgotten(id)) differences.push(`returns: refund ${id} is not in the books of orders`)
  return [...differences, ...sumDifferences(books)]
}

function termsDifferences(about: string, refund: Row, order: Row | undefined): string[] {
  const nonce = keccak(`ponte.refund ${refund.id} ${lower(refund.payee)} ${refund.units}`)
  return [
    ...unlike(about, [
      ['nonce', refund.nonce, nonce],
      ['merchant', refund.merchant_id, order?.merchant_id],
      ['chain', text(refund.chain_id), offerOn(order, refund.chain_id)?.chain],
      ['wallet', lower(refund.from_address), order ? orderPayoutOn(order, refund.chain_id) : null],
    ]),
  ]
}

/** The listener's last statement of it, which orders decides by. */
function statementDifferences(about: string, refund: Row, watch: Row, generation: string | null): string[] {
  const isHeard = Number(refund.revision) > 0
  const isAskedAbout = refund.ended === null && refund.cancelled_at === null
  return unlike(`${about} at orders`, [
    ['order', refund.order_id, watch.order_id],
    ['chain', text(refund.chain_id), text(watch.chain_id)],
    ['wallet', lower(refund.from_address), watch.from_address],
    ['payee', lower(refund.payee), watch.payee],
    ['units', text(refund.units), text(watch.units)],
    ['nonce', refund.nonce, watch.nonce],
    ['generation', refund.generation, isAskedAbout && isHeard ? generation : refund.generation],
    ['revision', text(refund.revision), refund.generation === generation || !isHeard ? text(watch.revision) : text(refund.revision)],
    ['known_time', refund.known_time === null ? null : text(seconds(refund.known_time)), text(watch.published_time)],
    ['wallet_units', text(refund.wallet_units), text(watch.published_balance)],
    ['ended', refund.ended, watch.ended],
    ['tx_hash', refund.tx_hash, watch.tx_hash],
    ['log_index', text(refund.log_index), text(watch.log_index)],
    ['block_number', text(refund.block_number), text(watch.block_number)],
    ['block_time', refund.block_time === null ? null : text(seconds(refund.block_time)), text(watch.block_time)],
    ['known_block', refund.known_block === null, !isHeard],
  ])
}

/** The listener has the signature with the latest end. */
function signedDifferences(about: string, refund: Row, seen: readonly Row[], watch: Row): string[] {
  const brought = seen.filter(row => !isUnknown(row)).toSorted((a, b) => seconds(a.valid_before) - seconds(b.valid_before))
  const last = brought.at(-1)
  const isMoved = refund.ended === 'transferred'
  const end = last === undefined ? 0 : seconds(last.valid_before)
  const withdrawn = watch.withdrawn_until === null ? null : Number(watch.withdrawn_until)
  const isWithdrawn = withdrawn !== null && withdrawn >= end
  // Orders may have lost a cancellation; the release before withdrew nothing.
  const mayBeWithdrawn = refund.cancelled_at !== null || (isWithdrawn && last !== undefined)
  return [
    ...unlike(`${about} at the listener`, [
      ['valid_before', text(watch.valid_before), last === undefined ? null : text(seconds(last.valid_before))],
      // A refund that orders has lost it learns again without the signature.
      ['signature', watch.signature, last === undefined || isWithdrawn ? null : (last.signature ?? watch.signature)],
      ['withdrawn_until', text(withdrawn), mayBeWithdrawn && (withdrawn === null || isWithdrawn) ? text(withdrawn) : null],
    ]),
    ...(isMoved && !seen.some(isUnknown) ? [`returns: ${about} has moved money once, and its signature could not do so again`] : []),
  ]
}

/**
 * Another member than who asked for it approved it, once it was made. Whether a signature needed one cannot be judged: the limit of that moment, which a merchant may change,
 * stands nowhere, and neither does who brought the signature.
 */
function approvalDifferences(about: string, refund: Row, now: number): string[] {
  const { approved_by: by, approved_at: at } = refund
  if (by === null && at === null) return []
  if (by === null || at === null) return [`approved_by: ${about} is approved by ${by} at ${at}`]
  return [
    ...(by === refund.requested_by ? [`approved_by: ${about} is approved by who asked for it`] : []),
    ...(millis(at) < millis(refund.created_at) || millis(at) > now + MINUTE_MS ? [`approved_at: ${about} is approved at ${at}`] : []),
  ]
}

/** It was taken back by the merchant while nothing that was signed could move the money any more. */
function cancelDifferences(about: string, refund: Row, seen: readonly Row[], now: number): string[] {
  if (refund.cancelled_at === null) return []
  const known = Math.max(millis(refund.cancelled_at), refund.known_time === null ? 0 : millis(refund.known_time))
  const living = seen.filter(row => !isUnknown(row) && millis(row.valid_before) > known)
  return [
    ...(millis(refund.cancelled_at) > now + MINUTE_MS ? [`cancelled_at: ${about} is cancelled at ${refund.cancelled_at}`] : []),
    ...(refund.ended === null && living.length > 0 ? [`cancelled_at: ${about} was cancelled while a signature lived`] : []),
  ]
}

/** Where a reorganisation took money away, more may go back than came. */
function sumDifferences({ refunds, orders, payments }: ReturnBooks): string[] {
  const shrunk = new Set(payments.filter(({ status }) => status === 'orphaned').map(row => String(row.order_id)))
  const promised = groupBy(
    refunds.filter(({ cancelled_at }) => cancelled_at === null),
    row => String(row.order_id),
  )
  return orders.flatMap(order => {
    const sum = (promised.get(String(order.id)) ?? []).reduce((total, row) => total + units(row.units), 0n)
    return sum > units(order.confirmed_units) && !shrunk.has(String(order.id))
      ? [`returns: ${sum} of order ${order.id} go back, and ${order.confirmed_units} came`]
      : []
  })
}
