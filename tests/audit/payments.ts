import { chainOfId, type Networks, type Offer, offerOn, offersOf, type Retired } from './networks'
import { groupBy, lower, type Row, seconds, text, units, unlike } from './rows'

export interface Books {
  /** The listeners', of every network. */
  ledger: readonly Row[]
  payables: readonly Row[]
  orders: readonly Row[]
  payments: readonly Row[]
  unmatched: readonly Row[]
  /** Payments that merchants count for an order whose memo it does not carry. */
  attachments: readonly Row[]
  sweeps: readonly Row[]
  /** Each network that an order may be paid on, as orders knows it to be watched. */
  orderNetworks: readonly Row[]
  /** From each deposit.watch that the outbox still has, by the order's id and the chain. */
  created: ReadonlyMap<string, Row>
  /** The outbox still has what was published about orders of since then, in milliseconds. */
  remembered: number
  networks: Networks
  retired: Retired
}

const idOf = (row: Row) => `${row.chain_id}:${row.block_hash}:${row.log_index}`
const UNITS_MAX = 2n ** 63n - 1n

/** Each row of the listener stands in exactly one place at orders, with the same terms; and nothing else stands there. */
export function ledgerAgainstOrders(books: Books): string[] {
  const { ledger, payments, unmatched, sweeps } = books
  const placed = [
    ...payments.map(row => ({ row, place: 'payments' })),
    ...unmatched.map(row => ({ row, place: 'unmatched_payments' })),
    ...sweeps.map(row => ({ row, place: 'sweeps' })),
  ]
  const places = new Map<string, typeof placed>()
  for (const one of placed) places.set(String(one.row.id), [...(places.get(String(one.row.id)) ?? []), one])
  const orders = new Map(books.orders.map(order => [String(order.id), order]))
  const differences: string[] = []
  for (const row of ledger) {
    const id = idOf(row)
    const here = places.get(id) ?? []
    places.delete(id)
    const [found] = here
    const about = `${row.kind === 'sweep' ? 'sweep' : 'payment'} ${id} (block ${row.block_number})`
    // A sweep that vanished before it was confirmed, or waits to be, was never published.
    if (!found && row.kind === 'sweep' && row.state !== 'confirmed') continue
    if (!found) differences.push(`lost: ${about} is ${row.state} at the listener, and orders has it nowhere`)
    else if (here.length > 1) differences.push(`twice: ${about} is in ${here.map(({ place }) => place).join(' and in ')}`)
    else differences.push(...termsAgainst(about, row, found, orders, books))
  }
  for (const [id, [found]] of places)
    if (found && found.row.status !== 'orphaned' && !books.retired.has(chainOfId(id)))
      differences.push(`unfounded: ${id} in ${found.place} is unknown to ${listenerOf(id, books)}`)
  return differences
}

function termsAgainst(
  payment: string,
  row: Row,
  { row: booked, place }: { row: Row; place: string },
  orders: ReadonlyMap<string, Row>,
  books: Books,
) {
  const about = `${payment}, as orders has it,`
  const order = place === 'payments' ? orders.get(String(booked.order_id)) : undefined
  const attached = books.attachments.find(({ payment_id }) => payment_id === booked.id)
  // A payment that matches an order has the order's terms, which its own row need not repeat.
  const terms = place === 'payments' ? order : booked
  const offer = offerOn(order, row.chain_id)
  const at = (column: 'router' | 'token') => (place === 'payments' ? offer?.[column] : lower(booked[`${column}_address`]))
  const amount = booked.exact_units ?? booked.gross_units
  return [
    ...unlike(about, [
      ['place', place === 'sweeps', row.kind === 'sweep'],
      ['status', booked.status, row.state],
      ['amount', text(amount), text(row.amount)],
      ['memo', text((attached ?? terms)?.memo), text(row.memo)],
      ['attached to', attached?.order_id ?? booked.order_id, booked.order_id],
      ['merchant', place === 'payments' ? offer?.merchant : lower(booked.merchant_address), lower(row.merchant)],
      ['router', at('router'), lower(row.router)],
      ['chain', place === 'payments' ? offer?.chain : text(booked.chain_id), text(row.chain_id)],
      ['token', at('token'), books.networks.get(String(row.chain_id))?.token],
      ['tx_hash', booked.tx_hash, row.tx_hash],
      ['block', text(booked.block_number), text(row.block_number)],
      ['time', seconds(booked.block_time), seconds(row.block_time)],
      ['log', booked.log_index, row.log_index],
      // Rows of the release before learn it when they are reported again.
      ['block hash', booked.block_hash ?? row.block_hash, row.block_hash],
      ['deposit', lower(booked.deposit_address), lower(row.deposit)],
    ]),
    ...(place === 'sweeps'
      ? unlike(about, [['fee', text(booked.fee_units ?? row.fee), text(row.fee)]])
      : unlike(about, [
          ['kind', booked.kind, row.kind],
          ['payer', lower(booked.payer_address), lower(row.payer)],
        ])),
    ...(order ? feeDifferences(about, row, order) : []),
    ...(place === 'unmatched_payments' ? reasonDifferences(about, booked, books) : []),
  ]
}

/** The router takes the order's part, or nothing where the token refuses the platform's address; a transfer pays its fee when it is swept. */
function feeDifferences(about: string, row: Row, order: Row): string[] {
  if (row.fee === null || units(row.fee) === 0n) return []
  const due = row.kind === 'router' ? (units(row.amount) * units(order.fee_bps)) / 10_000n : 0n
  return unlike(about, [['fee', text(row.fee), text(due)]])
}

/** Why a payment counts for no order, from the orders as they are. */
function reasonDifferences(about: string, booked: Row, { orders, payments }: Books): string[] {
  const order = orders.find(({ memo }) => memo === booked.memo)
  const amount = units(booked.exact_units ?? booked.gross_units)
  const beside = payments.filter(one => one.order_id === order?.id)
  const already = beside.filter(({ status }) => status !== 'orphaned').reduce((sum, one) => sum + units(one.gross_units), 0n)
  const offer = offerOn(order, booked.chain_id)
  const differs = (column: 'router' | 'token' | 'merchant', name: string) => offer !== undefined && offer[column] !== lower(booked[name])
  const reason = (() => {
    if (amount > UNITS_MAX) return 'amount_out_of_range'
    if (!order) return 'unknown_memo'
    if (!offer) return 'wrong_chain'
    if (differs('router', 'router_address')) return 'wrong_router'
    if (differs('token', 'token_address')) return 'wrong_token'
    if (differs('merchant', 'merchant_address')) return 'wrong_recipient'
    if (amount === 0n) return 'zero_amount'
    return already + amount > UNITS_MAX ? 'amount_out_of_range' : 'none'
  })()
  return [
    ...unlike(about, [['reason', booked.reason, reason]]),
    ...(booked.exact_units !== null && units(booked.exact_units) <= UNITS_MAX
      ? [`amount: ${about} has an exact amount that it does not need`]
      : []),
  ]
}

/** Each address ever issued is watched for its order by the listener of each of its networks, and what orders knows of it is what that one published. `lost` orders are named elsewhere. */
export function addressesAgainstOrders(books: Books, lost: ReadonlySet<string>): string[] {
  const watched = new Map(books.payables.map((row): [string, Row] => [`${row.order_id} ${row.chain_id}`, row]))
  const known = new Set(books.orders.map(({ id }) => String(id)))
  const offered = new Set(books.orders.flatMap(order => offersOf(order).map(({ chain }) => `${order.id} ${chain}`)))
  const isUnknown = (id: unknown) => !known.has(String(id)) && !lost.has(String(id))
  const stated = new Map(books.orderNetworks.map(row => [`${row.order_id} ${row.chain_id}`, row]))
  return [
    ...books.payables.flatMap(({ order_id, chain_id }) => {
      if (isUnknown(order_id)) return [`address: the listener watches order ${order_id}, which orders does not have`]
      return known.has(String(order_id)) && !offered.has(`${order_id} ${chain_id}`)
        ? [`address: the listener of chain ${chain_id} watches order ${order_id}, which may not be paid there`]
        : []
    }),
    ...books.orderNetworks
      .filter(({ order_id }) => isUnknown(order_id))
      .map(({ order_id }) => `address: orders has a state of the address of order ${order_id}, which it does not have`),
    ...books.orders.flatMap(order =>
      offersOf(order).flatMap(offer => {
        if (books.retired.has(offer.chain)) return []
        const key = `${order.id} ${offer.chain}`
        const about = `order ${order.id}${offer.chain === text(order.chain_id) ? '' : ` on chain ${offer.chain}`}`
        return addressDifferences(
          { about, order, offer, payable: watched.get(key), state: stated.get(key), event: books.created.get(key) },
          books,
        )
      }),
    ),
  ]
}

interface Watched {
  about: string
  order: Row
  offer: Offer
  payable: Row | undefined
  state: Row | undefined
  event: Row | undefined
}

function addressDifferences({ about, order, offer, payable, state, event }: Watched, { remembered, networks }: Books): string[] {
  const generation = networks.get(offer.chain)?.generation ?? null
  if (!payable) return [`address: the listener does not know ${about}`]
  const differences = unlike(`the listener's row of ${about}`, [
    ['memo', payable.memo, order.memo],
    ['merchant', lower(payable.merchant), offer.merchant],
    ['router', lower(payable.router), offer.router],
    ['address', lower(payable.address), offer.deposit],
    ['chain', text(payable.chain_id), offer.chain],
    ['expiry', Date.parse(String(payable.expires_at)), Date.parse(String(order.expires_at))],
  ])
  // Rows of the release before have neither merchant nor amount.
  differences.push(
    ...unlike(`the listener's row of ${about}`, [
      ['merchant_id', payable.merchant_id ?? order.merchant_id, order.merchant_id],
      ['asked_units', text(payable.asked_units ?? order.usdc_units), text(order.usdc_units)],
      ['cancelled', payable.cancelled_at !== null && order.cancelled_at === null, false],
    ]),
  )
  if (!event && Date.parse(String(order.created_at)) > remembered)
    differences.push(`deposit.watch: ${about} was never sent to the listener`)
  if (event)
    differences.push(
      ...unlike(about, [
        ['watch_from', text(offer.watchFrom), text(event.watch_from)],
        ['merchant_is_contract', offer.merchantIsContract, event.merchant_is_contract ?? false],
      ]),
      ...unlike(`the listener's row of ${about}`, [
        // Earlier where a restored database of orders opened a charge again, and the listener kept the block of the first time.
        // Where orders knew no head, the listener goes by the age of the order.
        ...(Number(event.watch_from ?? 0) === 0
          ? []
          : [['watch_from', text(payable.watch_from), text(Math.min(Number(payable.watch_from), Number(event.watch_from)))] as const]),
        ['merchant_is_contract', payable.merchant_is_contract, event.merchant_is_contract ?? false],
      ]),
    )
  if (Number(payable.asked) > Number(payable.answered)) differences.push(`watched: the listener has not read everything of ${about}`)
  else if (state?.watched_generation !== generation || Number(state?.watched_through ?? -1) < 0)
    differences.push(`watched: ${about} does not know that it is watched`)
  if (offer.deposit === null) return differences
  return [
    ...differences,
    ...unlike(about, [
      ['blocked', state?.blocked_reason ?? null, payable.blocked_reason],
      // Known since it was first blocked.
      ['merchant of its deposit', state?.merchant_id ?? order.merchant_id, order.merchant_id],
      ['blocked revision', state?.blocked_revision ?? 0, payable.blocked_published],
      // Unnamed by the release before, and published anew in each.
      ['blocked generation', state?.blocked_generation ?? generation, generation],
      ['blocked published', payable.blocked_published, payable.blocked_revision],
    ]),
  ]
}

/** Of the chain that the id names. */
function listenerOf(id: string, { networks }: Books): string {
  const chain = chainOfId(id)
  return networks.has(chain) ? 'the listener' : `every listener that was asked: none is of chain ${chain}`
}

export const paymentsOf = (rows: readonly Row[]) => groupBy(rows, row => String(row.order_id))

/** A signature whose amount is not due, because it is on its way, is one that the listener has. */
export function authorizationDifferences(stated: readonly Row[], authorizations: readonly Row[]): string[] {
  const keyOf = (row: Row) => `${row.order_id} ${row.chain_id}`
  const known = groupBy(authorizations, keyOf)
  return stated
    .filter(({ status }) => status === 'accepted' || status === 'submitted')
    .flatMap(row => {
      const about = `the signature of order ${row.order_id}`
      const mine = known.get(keyOf(row))?.find(({ order_attempt }) => text(order_attempt ?? 0) === text(row.attempt))
      if (!mine) return [`signatures: ${about} is ${row.status}, and the listener does not have it`]
      return unlike(about, [
        ['payer', lower(row.payer_address), lower(mine.payer)],
        ['amount', text(row.gross_units), text(mine.units)],
        ['valid_before', text(row.valid_before), text(mine.valid_before)],
      ])
    })
}
