import { judge, type RouterFact, type TransferFact } from '../simulation/oracle'
import { chainOfId, offersOf } from './networks'
import { decimal, groupBy, lower, millis, type Row, seconds, text, units, unlike } from './rows'

/** Events are the parsed bodies of its outbox rows, in their order. */
export interface OrderFacts {
  order: Row
  payments: readonly Row[]
  /** The listener's rows of its memo and merchant that are sweeps. */
  sweeps: readonly Row[]
  merchant: Row | undefined
  events: readonly OrderEvent[]
  /** False when the outbox may have forgotten some. */
  hasAllEvents: boolean
  confirmed: Confirmed
  toleranceLimit: bigint
}

/** The last confirmed block, of each network that orders follow, and the time that the order's own networks have all reached. */
export interface Confirmed {
  block: number
  /** Of the networks beside the first, by chain. */
  others?: ReadonlyMap<string, number>
  time: number
}

export interface OrderEvent {
  id: string
  type: string
  occurred_at: string
  data: Record<string, unknown>
}

const MINUTE_MS = 60_000
const iso = (value: unknown) => (value === null ? null : new Date(String(value)).toISOString())
const brl = (value: unknown) => decimal(units(value), 2)
const usdc = (value: unknown) => decimal(units(value), 6)
/** jsonb keeps keys in an order of its own. */
const sorted = (value: unknown) => Object.entries(Object(value)).sort()
const share = (gross: bigint, feeBps: bigint) => gross - (gross * feeBps) / 10_000n
const orderIn = (event: OrderEvent) => event.data.order as Record<string, unknown>

export const orderDifferences = (facts: OrderFacts): string[] => [
  ...termsDifferences(facts),
  ...stateDifferences(facts),
  ...eventDifferences(facts),
  ...acceptanceDifferences(facts),
  ...tallyDifferences(
    facts.order,
    facts.payments.filter(({ status }) => status !== 'orphaned'),
  ),
]

/** Terms are fixed when an order is made: its arithmetic, and the statement of its order.created. */
function termsDifferences({ order, merchant, events, hasAllEvents, toleranceLimit }: OrderFacts): string[] {
  const about = `order ${order.id}`
  const [gross, rate, bps] = [units(order.usdc_units), units(order.rate_micros), units(order.fee_bps)]
  const fee = (gross * bps) / 10_000n
  const found = unlike(about, [
    ['usdc_units', text(gross), text((units(order.brl_centavos) * 10_000_000_000n + rate - 1n) / rate)],
    ['fee_units', text(order.fee_units), text(fee)],
    ['expected_units', text(order.expected_units), text(gross - fee)],
  ])
  found.push(...toleranceDifferences({ order, merchant, toleranceLimit }))
  for (const column of ['superseded_at', 'withdrawn_at'])
    if (order[column] !== null && order.subscription_id === null) found.push(`${column}: ${about} is of no subscription`)
  if (merchant === undefined) found.push(`merchant: the merchant of ${about} is not known`)
  else if (merchant.version === order.merchant_version)
    found.push(
      ...unlike(about, [
        ['merchant_name', order.merchant_name, merchant.display_name],
        ['merchant_address', lower(order.merchant_address), lower(merchant.payout_address)],
      ]),
    )
  else if (Number(merchant.version) < Number(order.merchant_version))
    found.push(`merchant_version: ${about} has ${order.merchant_version}, and the merchant ${merchant.version}`)
  const created = events.find(({ type }) => type === 'order.created')
  // Published for subscriptions alone.
  if (!created) return hasAllEvents && order.subscription_id !== null ? [...found, `order.created: ${about} has no such event`] : found
  const body = orderIn(created)
  const [quote, payment] = [body.quote as Row, body.payment as Row]
  return [
    ...found,
    ...unlike(about, [
      ['merchant_id', order.merchant_id, created.data.merchant_id],
      ['merchant_version', order.merchant_version, created.data.merchant_version],
      ['memo', order.memo, body.memo],
      ['subscription_id', order.subscription_id, body.subscription_id],
      ['external_ref', order.external_ref, body.external_ref],
      ['description', order.description, body.description],
      ['metadata', sorted(order.metadata), sorted(body.metadata)],
      ['brl_amount', brl(order.brl_centavos), body.brl_amount],
      ['usdc_amount', usdc(order.usdc_units), body.usdc_amount],
      ['platform_fee', usdc(order.fee_units), body.platform_fee],
      ['expected', usdc(order.expected_units), body.expected],
      // A publisher of the release before did not state it.
      ['payment_tolerance', usdc(order.tolerance_units), body.payment_tolerance ?? usdc(order.tolerance_units)],
      ['rate', usdc(order.rate_micros), quote.rate],
      ['rate_source', order.rate_source, quote.source],
      ['rate_as_of', iso(order.rate_as_of), quote.as_of],
      ['rate_spread_bps', order.rate_spread_bps, quote.spread_bps],
      ['chain_id', text(order.chain_id), text(payment.chain_id)],
      ['token_address', lower(order.token_address), lower(payment.token_address)],
      ['router_address', lower(order.router_address), lower(payment.router_address)],
      ['merchant_address', lower(order.merchant_address), lower(payment.merchant_address)],
      ['deposit_address', lower(order.deposit_address), lower(payment.deposit_address)],
      ['expires_at', iso(order.expires_at), body.expires_at],
      ['created_at', iso(order.created_at), body.created_at],
    ]),
  ]
}

/** A merchant's choice for one order stands nowhere else, and is at most a tenth of it; an order of a plan has that of its merchant. */
function toleranceDifferences({ order, merchant, toleranceLimit }: Pick<OrderFacts, 'order' | 'merchant' | 'toleranceLimit'>): string[] {
  const [tolerance, gross] = [units(order.tolerance_units), units(order.usdc_units)]
  const about = `order ${order.id}`
  if (tolerance < 0n || tolerance > gross / 10n) return [`tolerance_units: ${about} may be short by ${tolerance} of ${gross}`]
  if (order.subscription_id === null || merchant?.version !== order.merchant_version) return []
  const [chosen, hundredth] = [merchant?.payment_tolerance_units ?? null, gross / 100n]
  const byDefault = toleranceLimit < hundredth ? toleranceLimit : hundredth
  if (chosen === null) return unlike(about, [['tolerance_units', text(tolerance), text(byDefault)]])
  return tolerance > units(chosen) ? [`tolerance_units: ${about} may be short by ${tolerance}, and its merchant chose ${chosen}`] : []
}

/** The oracle's state of an order, by its payments, the chain and the merchant's command. */
export function stateDifferences({
  order,
  payments,
  sweeps,
  confirmed,
}: Pick<OrderFacts, 'order' | 'payments' | 'sweeps' | 'confirmed'>): string[] {
  const about = `order ${order.id}`
  const live = payments.filter(({ status }) => status !== 'orphaned')
  const { heightOf, confirmedBlock } = joinedBlocks([...live, ...sweeps], confirmed)
  const place = (row: Row) => ({
    txHash: String(row.tx_hash),
    block: heightOf(row),
    logIndex: Number(row.log_index),
    time: seconds(row.block_time),
  })
  const transfers: TransferFact[] = live
    .filter(({ kind }) => kind === 'transfer')
    .map(row => ({ ...place(row), from: String(lower(row.payer_address)), amount: units(row.gross_units) }))
  const received: RouterFact[] = live
    .filter(({ kind }) => kind === 'router')
    .map(row => ({ ...place(row), payer: String(lower(row.payer_address)), amount: units(row.gross_units) }))
  const deposits = new Map(offersOf(order).map(({ chain, deposit }) => [chain, deposit]))
  // On a network with a payout address of its own the deposit address is another one.
  const payerOf = (row: Row) => (deposits.get(chainOf(row)) === lower(row.payer) ? lower(order.deposit_address) : lower(row.payer))
  const swept = sweeps.map(row => ({ ...place(row), payer: String(payerOf(row)), amount: units(row.amount) }))
  const sum = live.filter(row => row.status === 'confirmed').reduce((total, row) => total + units(row.gross_units), 0n)
  const isAccepted = order.accepted_at !== null && sum >= units(order.accepted_units)
  const expected = judge(
    {
      usdcUnits: units(order.usdc_units),
      toleranceUnits: units(order.tolerance_units),
      feeBps: units(order.fee_bps),
      expiresAt: millis(order.expires_at) / 1_000,
      depositAddress: lower(order.deposit_address),
      cancelled: order.cancelled_at !== null,
      accepted: isAccepted ? String(order.tx_hash) : null,
    },
    { transfers, routerPayments: [...received, ...swept], confirmedBlock, confirmedTime: confirmed.time },
  )
  const found: string[] = []
  if (!expected.statuses.includes(String(order.status)))
    found.push(`status: ${about} is ${order.status}, and its payments make it ${expected.statuses.join(' or ')}`)
  else if (expected.statuses.length === 1)
    found.push(...unlike(about, [['exception', order.exception, exceptionOf(order, expected.exception)]]))
  return [
    ...found,
    ...unlike(about, [['received', text(order.confirmed_units), text(sum)]]),
    ...txHashDifferences(order, payments, expected.txHash),
  ]
}

const chainOf = ({ id, chain_id }: Row) => text(chain_id) ?? chainOfId(id)

/** Blocks of several chains as those of one, by their times: what is not confirmed on its own chain lies above what is. */
function joinedBlocks(rows: readonly Row[], { block, others }: Confirmed) {
  if (new Set(rows.map(chainOf)).size < 2)
    return { heightOf: (row: Row) => Number(row.block_number), confirmedBlock: others?.get(rows[0] ? chainOf(rows[0]) : '') ?? block }
  const isConfirmed = (row: Row) => Number(row.block_number) <= (others?.get(chainOf(row)) ?? block)
  const blockOf = (row: Row) => `${chainOf(row)} ${row.block_number}`
  const sorted = rows.toSorted((a, b) => Number(isConfirmed(b)) - Number(isConfirmed(a)) || inChainOrder(a, b))
  const heights = new Map([...new Set(sorted.map(blockOf))].map((place, height) => [place, height]))
  const confirmed = sorted.filter(isConfirmed).map(row => heights.get(blockOf(row)) ?? 0)
  return { heightOf: (row: Row) => heights.get(blockOf(row)) ?? 0, confirmedBlock: Math.max(-1, ...confirmed) }
}

/** By block time across chains. */
function inChainOrder(a: Row, b: Row): number {
  if (chainOf(a) !== chainOf(b)) return millis(a.block_time) - millis(b.block_time) || (String(a.id) < String(b.id) ? -1 : 1)
  return Number(a.block_number) - Number(b.block_number) || Number(a.log_index) - Number(b.log_index)
}

/** Networks that an order may be paid on are watched apart, each of them. */
export function networkDifferences(orders: readonly Row[], watched: readonly Row[]): string[] {
  const known = groupBy(watched, row => String(row.order_id))
  const chains = (ids: readonly unknown[]) => ids.map(String).sort().join()
  return orders.flatMap(({ id, chain_id, networks, merchant_addresses }) => {
    const others: unknown[] = Array.isArray(networks) ? networks.map(network => Object(network).chainId) : []
    const named = Array.isArray(networks) ? chains([chain_id, ...others]) : 'no list'
    const paidElsewhere = Object.keys(Object(merchant_addresses)).filter(chain => !others.map(String).includes(chain))
    return unlike(`order ${id}`, [
      ['networks', named, chains((known.get(String(id)) ?? []).map(row => row.chain_id))],
      ['merchant_addresses', chains(paidElsewhere), ''],
    ])
  })
}

/** A router's fee never changes, and each of its orders has it. */
export function feeDifferences(orders: readonly Row[]): string[] {
  return [...groupBy(orders, row => `${row.chain_id} ${lower(row.router_address)}`).values()].flatMap(of => {
    const counted = [...groupBy(of, ({ fee_bps }) => String(fee_bps)).values()].sort((a, b) => b.length - a.length)
    const [most, ...others] = counted
    return others
      .flat()
      .map(({ id, fee_bps }) => `fee_bps: order ${id} has ${fee_bps}, and ${most?.length} others of its router ${most?.[0]?.fee_bps}`)
  })
}

/** The sums and positions that are kept with an order, counted anew from its payments. */
function tallyDifferences(order: Row, live: readonly Row[]): string[] {
  const at = (row: Row | undefined, column: string) => text(row?.[column])
  const total = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + units(row.gross_units), 0n)
  const confirmed = live.filter(({ status }) => status === 'confirmed').toSorted(inChainOrder)
  const required = units(order.usdc_units) - units(order.tolerance_units)
  const completing = confirmed.find((_, index) => total(confirmed.slice(0, index + 1)) >= required)
  const isOfBlock = (row: Row) =>
    completing !== undefined && row.block_number === completing.block_number && chainOf(row) === chainOf(completing)
  const completed = confirmed.slice(0, confirmed.findLastIndex(isOfBlock) + 1)
  // The release before knows one network and leaves these empty.
  const kept = (value: unknown, counted: unknown) => (value === null ? null : counted)
  const last = confirmed.at(-1)
  return unlike(`order ${order.id}`, [
    ['seen_units', text(order.seen_units), text(total(live))],
    ['transfer_units', text(order.transfer_units), text(total(confirmed.filter(({ kind }) => kind === 'transfer')))],
    ['completed_units', text(order.completed_units), text(total(completed))],
    ['completing_chain_id', text(order.completing_chain_id), kept(order.completing_chain_id, completing ? chainOf(completing) : null)],
    ['completing_block', text(order.completing_block), at(completing, 'block_number')],
    ['completing_index', text(order.completing_index), at(completing, 'log_index')],
    ['completing_time', iso(order.completing_time), iso(completing?.block_time ?? null)],
    ['completing_tx_hash', order.completing_tx_hash, completing?.tx_hash ?? null],
    ['last_block', text(order.last_block), at(last, 'block_number')],
    ['last_index', text(order.last_index), at(last, 'log_index')],
    ['last_chain_id', text(order.last_chain_id), kept(order.last_chain_id, last ? chainOf(last) : null)],
    ['last_time', iso(order.last_time), kept(order.last_time, iso(last?.block_time ?? null))],
    ['last_tx_hash', order.last_tx_hash, last?.tx_hash ?? null],
  ])
}

/**
 * A paid order keeps the transaction that its `order.paid` named while that one stands, also when a payment that lies before it in the chain is reported
 * later, or a reorganisation mines the two the other way round. One whose payments a reorganisation took away keeps the last that it had.
 */
function txHashDifferences(order: Row, payments: readonly Row[], expected: string | null): string[] {
  const candidates = order.status === 'paid' ? payments.filter(({ status }) => status === 'confirmed') : payments
  const isKept = order.paid_at !== null && candidates.some(({ tx_hash }) => tx_hash === order.tx_hash)
  return isKept ? [] : unlike(`order ${order.id}`, [['tx_hash', order.tx_hash, expected]])
}

/** Its first report, or the second one that confirms it, is not the last. */
const wasReorganised = ({ status, revision }: Row) => status === 'orphaned' || Number(revision) > 2

/** Beyond the oracle: a reorganisation after `paid`, and another order of the period. */
function exceptionOf(order: Row, expected: string | null): string | null {
  if (order.status === 'paid' && order.superseded_at !== null) return 'duplicate'
  if (order.status !== 'paid' && order.paid_at !== null) return 'reorged'
  return expected
}

/** Each state has its event, once, and each event its state. */
function eventDifferences({ order, payments, events, hasAllEvents }: OrderFacts): string[] {
  const about = `order ${order.id}`
  const found: string[] = []
  const owner = { merchant_id: order.merchant_id, merchant_version: order.merchant_version }
  for (const [column, type, status] of [
    ['paid_at', 'order.paid', 'paid'],
    ['expired_at', 'order.expired', 'expired'],
    ['cancelled_at', 'order.cancelled', 'cancelled'],
    ['settled_at', 'order.settled', null],
    ['accepted_at', 'order.accepted', null],
  ] as const) {
    const of = events.filter(event => event.type === type)
    if (order.status === status && order[column] === null) found.push(`${column}: ${about} is ${status} and has none`)
    if (
      of.length > (order[column] === null ? 0 : 1) ||
      (hasAllEvents && order[column] !== null && of.length === 0 && !isCarriedOver(column, order))
    )
      found.push(`${type}: ${about} has ${of.length} such events, and ${column} is ${order[column]}`)
    const [event] = of
    if (!event) continue
    found.push(
      ...unlike(about, [[`${type} for`, { merchant_id: event.data.merchant_id, merchant_version: event.data.merchant_version }, owner]]),
    )
    const apart = Math.abs(Date.parse(event.occurred_at) - Date.parse(String(order[column])))
    if (order[column] !== null && apart > MINUTE_MS)
      found.push(`${column}: ${about} states ${order[column]}, its event ${event.occurred_at}`)
  }
  const [paid] = events.filter(({ type }) => type === 'order.paid')
  const isNamed = order.status === 'paid' && !payments.some(wasReorganised)
  if (paid)
    found.push(
      ...unlike(about, [
        [
          'order.paid',
          orderIn(paid),
          { ...paidBody(order), paid_at: iso(order.paid_at), ...(isNamed ? {} : { tx_hash: orderIn(paid).tx_hash }) },
        ],
      ]),
    )
  const short = events.filter(({ type }) => type === 'order.underpaid').map(event => String(orderIn(event).received))
  if (new Set(short).size < short.length) found.push(`order.underpaid: ${about} repeats an amount`)
  const last = short.reduce((most, amount) => (Number(amount) > Number(most) ? amount : most), '0.000000')
  const notified = usdc(share(units(order.notified_units), units(order.fee_bps)))
  if (hasAllEvents || short.length > 0) found.push(...unlike(about, [['notified_units', notified, last]]))
  return found
}

/** What an acceptance was made of stands in its event; without one nothing was accepted. */
function acceptanceDifferences({ order, events }: OrderFacts): string[] {
  const about = `order ${order.id}`
  if (order.accepted_at === null)
    return unlike(about, [
      ['accepted_units', text(order.accepted_units), '0'],
      ['accepted_reason', order.accepted_reason, null],
      ['accepted_by', order.accepted_by, null],
    ])
  const accepted = events.find(({ type }) => type === 'order.accepted')
  if (!accepted) return []
  const missing = units(order.usdc_units) - units(order.accepted_units)
  return unlike(about, [
    ['accepted_reason', order.accepted_reason, orderIn(accepted).reason],
    ['given_away', usdc(missing > 0n ? missing : 0n), orderIn(accepted).given_away],
  ])
}

/** Orders that were paid before settlement was published are marked as settled when they were paid. */
const isCarriedOver = (column: string, order: Row) => column === 'settled_at' && iso(order.settled_at) === iso(order.paid_at)

const paidBody = (order: Row) => ({
  id: order.id,
  subscription_id: order.subscription_id,
  external_ref: order.external_ref,
  brl_amount: brl(order.brl_centavos),
  usdc_amount: usdc(order.usdc_units),
  tx_hash: order.tx_hash,
  memo: order.memo,
})
