import { type Networks, offerOn, offersOf, orderPayoutOn, payoutOn, type Retired } from './networks'
import { groupBy, lower, millis, type Row, seconds, text, units, unlike } from './rows'

export interface EntryBooks {
  /** The listeners' payments and sweeps, of every network. */
  ledger: readonly Row[]
  networks: Networks
  retired: Retired
  orders: readonly Row[]
  attachments: readonly Row[]
  /** Asked for the reason alone, which is judged where they are compared with the listener's. */
  unmatched: readonly Row[]
  sweeps: readonly Row[]
  refunds: readonly Row[]
  payoutAddresses: readonly Row[]
  entries: readonly Row[]
  /** Their number by merchant. */
  ledgers: readonly Row[]
  quarterSums: readonly Row[]
  daySums: readonly Row[]
  /** Before this moment months are closed. */
  closes: readonly Row[]
}

type Kind = 'payment' | 'unmatched' | 'direct' | 'fee' | 'settled' | 'accepted' | 'returned'

/** An entry that must stand. Addresses are lower-case, the time is in seconds. */
export interface Due {
  merchant: string
  kind: Kind
  units: bigint
  brl: bigint | null
  order: string | null
  chain: string
  tx: string
  log: number
  block: string
  time: number
  payer: string | null
  address: string | null
  reason: string | null
}

const DIRECT = '0'.repeat(64)
const UNITS_MAX = 2n ** 63n - 1n
const TOLERATED = 10_000n
const QUARTER_MS = 900_000
const DAY_MS = 86_400_000
/** São Paulo, where months are closed. */
const OFFSET_MS = -10_800_000
const idOf = (row: Row) => `${row.chain_id}:${row.block_hash}:${row.log_index}`

/** Every entry follows from the listener's books and stands once; what was taken back is taken back whole; numbers have no gap and sums are those of their entries. */
export function entryDifferences(books: EntryBooks): string[] {
  const standing = standingOf(books.entries)
  const isAsked = (chain: string) => !books.retired.has(chain)
  return [
    ...againstDue(
      standing.filter(({ chain_id }) => isAsked(String(chain_id))),
      dueEntries(books).filter(({ chain }) => isAsked(chain)),
    ),
    ...balanceDifferences(standing),
    ...reversalDifferences(books.entries),
    ...sequenceDifferences(books),
    ...timeDifferences(books),
    ...sumDifferences('entry_sums', 'quarter', QUARTER_MS, books.quarterSums, books.entries),
    ...sumDifferences('entry_day_sums', 'day', DAY_MS, books.daySums, books.entries),
  ]
}

/** Half a centavo is rounded up, as amounts are positive. */
const centavos = (amount: bigint, rate: bigint | null) => (rate === null ? null : (amount * rate * 2n + 10_000_000_000n) / 20_000_000_000n)

/** Worked out from what the listener confirmed, the terms of orders, and whose payout address it was at a block's time, or that of the order which it names. */
export function dueEntries(books: EntryBooks): Due[] {
  const { ledger, orders, attachments, unmatched, sweeps, refunds } = books
  const byId = new Map(orders.map(order => [String(order.id), order]))
  const byMemo = new Map(orders.map(order => [String(order.memo), order]))
  const attached = new Map(attachments.map(row => [String(row.payment_id), String(row.order_id)]))
  const reasons = new Map(unmatched.map(row => [String(row.id), text(row.reason)]))
  const feeless = new Set(sweeps.filter(({ fee_units }) => fee_units === null).map(row => String(row.id)))
  const paidAt = payoutSpans(books.payoutAddresses)
  const confirmed = ledger.filter(({ state }) => state === 'confirmed')
  const known = new Set(confirmed.filter(({ kind }) => kind === 'transfer').map(row => `${row.chain_id} ${row.memo} ${lower(row.deposit)}`))
  const termsMatch = (order: Row, row: Row) => {
    // An address is swept for its order, whether it offers the network or not.
    const offer = row.kind === 'sweep' ? offersOf(order).find(({ chain }) => chain === text(row.chain_id)) : offerOn(order, row.chain_id)
    const token = books.networks.get(String(row.chain_id))?.token
    return offer !== undefined && offer.token === token && offer.router === lower(row.router) && offer.merchant === lower(row.merchant)
  }
  const orderOf = (row: Row) => {
    const own = attached.get(idOf(row))
    if (own !== undefined) return byId.get(own)
    const order = byMemo.get(String(row.memo))
    return order && termsMatch(order, row) && reasons.get(idOf(row)) === undefined ? order : undefined
  }
  const last = new Map<string, Row>()
  const due = confirmed.flatMap(row => {
    const [gross, order] = [units(row.amount), orderOf(row)]
    if (gross > UNITS_MAX || reasons.get(idOf(row)) === 'amount_out_of_range') return []
    if (order && row.kind !== 'sweep') {
      const before = last.get(String(order.id))
      if (!before || isLater(row, before)) last.set(String(order.id), row)
    }
    const isSweep = row.kind === 'sweep'
    const named = row.kind === 'sweep' ? undefined : byMemo.get(String(row.memo))
    const ownersNamed = named && orderPayoutOn(named, row.chain_id) === lower(row.merchant) ? [String(named.merchant_id)] : []
    const owners = order
      ? [String(order.merchant_id)]
      : [...new Set([...paidAt(row.merchant, row.chain_id, row.block_time), ...ownersNamed])]
    const rate = order ? units(order.rate_micros) : null
    const fee =
      row.fee === null || feeless.has(idOf(row)) ? (gross * units(order?.fee_bps ?? bpsOf(orders, row.router))) / 10_000n : units(row.fee)
    const isKnown = known.has(`${row.chain_id} ${row.memo} ${lower(row.payer)}`)
    const came: Kind = order ? 'payment' : row.memo === DIRECT ? 'direct' : 'unmatched'
    const grossBrl = centavos(gross, rate)
    const feeBrl = centavos(fee, rate)
    const parts: [Kind, bigint, bigint | null, string | null][] = []
    if (!isSweep || (!order && !isKnown)) parts.push([came, gross, grossBrl, lower(isSweep ? row.payer : row.deposit)])
    if (row.kind !== 'transfer')
      parts.push(
        ['fee', fee, feeBrl, null],
        ['settled', gross - fee, grossBrl === null || feeBrl === null ? null : grossBrl - feeBrl, lower(row.merchant)],
      )
    const reason = order || came === 'direct' ? null : isSweep ? 'unknown_memo' : (reasons.get(idOf(row)) ?? 'unknown_memo')
    return owners.flatMap(merchant =>
      parts
        .filter(([, amount]) => amount > 0n)
        .map(([kind, amount, brl, address]) => ({
          ...placeOf(row, merchant, order),
          ...{ kind, units: amount, brl, address, reason, payer: isSweep ? null : lower(row.payer) },
        })),
    )
  })
  const given = orders.flatMap(order => {
    const [row, missing] = [last.get(String(order.id)), units(order.usdc_units) - units(order.confirmed_units)]
    const isGiven = order.accepted_at !== null || (order.superseded_at === null && missing > TOLERATED)
    if (!row || order.status !== 'paid' || !isGiven || missing <= 0n) return []
    const reason = text(order.accepted_reason) ?? 'payment_tolerance'
    const brl = centavos(missing, units(order.rate_micros))
    return [
      {
        ...placeOf(row, String(order.merchant_id), order),
        ...{ kind: 'accepted' as const, units: missing, brl, payer: null, address: null, reason },
      },
    ]
  })
  const returned = refunds.flatMap(refund => {
    const order = byId.get(String(refund.order_id))
    if (!order || refund.ended !== 'transferred') return []
    const brl = centavos(units(refund.units), units(order.rate_micros))
    const place = placeOf(refund, String(refund.merchant_id), order)
    return [
      {
        ...place,
        ...{
          kind: 'returned' as const,
          units: units(refund.units),
          brl,
          payer: null,
          address: lower(refund.payee),
          reason: text(refund.reason),
        },
      },
    ]
  })
  return [...due, ...given, ...returned]
}

/** By block time across chains. */
const isLater = (a: Row, b: Row) => (text(a.chain_id) !== text(b.chain_id) ? isAfter(a, b) : isHigher(a, b))
const isAfter = (a: Row, b: Row) =>
  millis(a.block_time) > millis(b.block_time) || (millis(a.block_time) === millis(b.block_time) && idOf(a) > idOf(b))
const isHigher = (a: Row, b: Row) =>
  Number(a.block_number) > Number(b.block_number) ||
  (Number(a.block_number) === Number(b.block_number) && Number(a.log_index) > Number(b.log_index))

const placeOf = (row: Row, merchant: string, order: Row | undefined) => ({
  merchant,
  order: order ? String(order.id) : null,
  chain: String(row.chain_id),
  tx: String(row.tx_hash),
  log: Number(row.log_index),
  block: String(row.block_number),
  time: seconds(row.block_time),
})

/** A router's fee never changes, so that any order of it has it. */
const bpsOf = (orders: readonly Row[], router: unknown) =>
  orders.find(({ router_address }) => lower(router_address) === lower(router))?.fee_bps ?? 0

/** Which merchants an address belonged to at a block's time: each from the second of its `since` on, until the merchant's next version. */
function payoutSpans(rows: readonly Row[]): (address: unknown, chain: unknown, time: unknown) => string[] {
  const spans = new Map<string, { merchant: string; version: Row; from: number; to: number }[]>()
  for (const [merchant, of] of groupBy(rows, row => String(row.merchant_id))) {
    const versions = of.toSorted((a, b) => Number(a.merchant_version) - Number(b.merchant_version))
    for (const [index, version] of versions.entries()) {
      const [next, { since }] = [versions[index + 1], version]
      const span = {
        merchant,
        version,
        from: millis(since) - (millis(since) % 1_000),
        to: next ? millis(next.since) : Number.POSITIVE_INFINITY,
      }
      for (const named of new Set([version.payout_address, ...Object.values(Object(version.of_networks))].map(one => lower(one) ?? '')))
        spans.set(named, [...(spans.get(named) ?? []), span])
    }
  }
  return (address, chain, time) => [
    ...new Set(
      (spans.get(lower(address) ?? '') ?? [])
        .filter(({ version, from, to }) => payoutOn(version, chain) === lower(address) && from <= millis(time) && millis(time) < to)
        .map(({ merchant }) => merchant),
    ),
  ]
}

/** Neither a reversal nor taken back by one. */
function standingOf(entries: readonly Row[]): Row[] {
  const gone = new Set(entries.filter(({ reverses }) => reverses !== null).map(row => `${row.merchant_id} ${row.reverses}`))
  return entries.filter(row => row.reverses === null && !gone.has(`${row.merchant_id} ${row.sequence}`))
}

const aboutOf = (row: Row) => `entry ${row.sequence} of merchant ${row.merchant_id}`

function againstDue(standing: readonly Row[], due: readonly Due[]): string[] {
  const placed = groupBy(standing, row => `${row.merchant_id} ${row.chain_id} ${row.tx_hash} ${row.log_index} ${row.kind}`)
  const differences: string[] = []
  for (const one of due) {
    const key = `${one.merchant} ${one.chain} ${one.tx} ${one.log} ${one.kind}`
    const [row, ...more] = placed.get(key) ?? []
    placed.set(key, more)
    if (!row) differences.push(`entries: merchant ${one.merchant} lacks ${one.kind} of ${one.units} units by log ${one.log} of ${one.tx}`)
    else differences.push(...termsDifferences(row, one))
  }
  for (const row of [...placed.values()].flat())
    differences.push(
      `entries: ${aboutOf(row)}, ${row.kind} of ${row.units} units by log ${row.log_index} of ${row.tx_hash}, is founded on nothing`,
    )
  return differences
}

const termsDifferences = (row: Row, due: Due): string[] =>
  unlike(`entries: ${aboutOf(row)}`, [
    ['units', text(row.units), text(due.units)],
    ['brl_centavos', text(row.brl_centavos), text(due.brl)],
    ['order', text(row.order_id), due.order],
    ['chain', text(row.chain_id), due.chain],
    ['block', text(row.block_number), due.block],
    ['time', seconds(row.block_time), due.time],
    ['payer', lower(row.payer_address), due.payer],
    ['address', lower(row.address), due.address],
    ['reason', text(row.reason), due.reason],
  ])

/** By the entries alone: what a router received by one log left it by the same, in units and in centavos. */
function balanceDifferences(standing: readonly Row[]): string[] {
  const centavosOf = (row: Row) => units(row.brl_centavos ?? 0)
  return [...groupBy(standing, row => `${row.merchant_id} ${row.chain_id} ${row.tx_hash} ${row.log_index}`).values()].flatMap(rows => {
    const came = rows.filter(({ kind }) => kind === 'payment' || kind === 'unmatched')
    const left = rows.filter(({ kind }) => kind === 'fee' || kind === 'settled')
    if (came.length === 0 || left.length === 0) return []
    const rest = (of: (row: Row) => bigint) => came.reduce((sum, row) => sum + of(row), 0n) - left.reduce((sum, row) => sum + of(row), 0n)
    const [inUnits, inCentavos] = [rest(row => units(row.units)), rest(centavosOf)]
    return inUnits === 0n && inCentavos === 0n
      ? []
      : [`entries: log ${rows[0]?.log_index} of ${rows[0]?.tx_hash} comes to ${inUnits} units and ${inCentavos} centavos, and not to zero`]
  })
}

/** A reversal is the opposite of its entry in everything, and nothing is taken back twice. */
function reversalDifferences(entries: readonly Row[]): string[] {
  const known = new Map(entries.map(row => [`${row.merchant_id} ${row.sequence}`, row]))
  const taken = new Set<string>()
  return entries.flatMap(row => {
    if (row.reverses === null) return []
    const place = `${row.merchant_id} ${row.reverses}`
    const about = `entries: ${aboutOf(row)}`
    const of = known.get(place)
    if (!of || of.reverses !== null || units(row.reverses) >= units(row.sequence))
      return [`${about} takes back ${row.reverses}, which it cannot`]
    if (taken.has(place)) return [`${about} takes back ${row.reverses} once more`]
    taken.add(place)
    const opposite = (value: unknown) => (value === null ? null : text(-units(value)))
    return unlike(about, [
      ['units', text(row.units), opposite(of.units)],
      ['brl_centavos', text(row.brl_centavos), opposite(of.brl_centavos)],
      ...(
        [
          'kind',
          'order_id',
          'chain_id',
          'tx_hash',
          'log_index',
          'block_number',
          'block_time',
          'payer_address',
          'address',
          'reason',
        ] as const
      ).map(column => [column, text(row[column]), text(of[column])] as const),
    ])
  })
}

/** From one on without a gap, which the number of a merchant's ledger is too. */
function sequenceDifferences({ entries, ledgers }: EntryBooks): string[] {
  const counted = new Map(ledgers.map(row => [String(row.merchant_id), units(row.sequence)]))
  const found = [...groupBy(entries, row => String(row.merchant_id))].flatMap(([merchant, of]) => {
    const numbers = of.map(({ sequence }) => units(sequence)).sort((a, b) => (a < b ? -1 : 1))
    const gap = numbers.findIndex((number, index) => number !== BigInt(index + 1))
    const last = counted.get(merchant) ?? 0n
    counted.delete(merchant)
    return [
      ...(gap === -1 ? [] : [`sequence: entry ${gap + 1} of merchant ${merchant} has number ${numbers[gap]}`]),
      ...(last === BigInt(numbers.length) ? [] : [`sequence: merchant ${merchant} has ${numbers.length} entries, and ${last} are counted`]),
    ]
  })
  for (const [merchant, count] of counted)
    if (count !== 0n) found.push(`sequence: merchant ${merchant} has no entries, and ${count} are counted`)
  return found
}

/** An entry counts at its block's time, or when it was booked, where the block's month was closed by then. */
function timeDifferences({ entries, closes }: EntryBooks): string[] {
  const closed = closes.map(({ through }) => millis(through)).find(Number.isFinite) ?? Number.NEGATIVE_INFINITY
  return entries.flatMap(row => {
    const [at, time, booked] = [millis(row.at), millis(row.block_time), millis(row.booked_at)]
    if (at === time) return []
    const local = new Date(time + OFFSET_MS)
    const monthEnd = Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1) - OFFSET_MS
    const isLate = monthEnd <= closed && (at === booked || (at > booked && at <= closed))
    return isLate ? [] : [`at: ${aboutOf(row)} counts at ${row.at}, and its block is of ${row.block_time}`]
  })
}

function sumDifferences(table: string, column: string, spanMs: number, sums: readonly Row[], entries: readonly Row[]): string[] {
  const must = new Map<string, [movements: bigint, units: bigint, brl: bigint]>()
  for (const row of entries) {
    const key = `${row.merchant_id} ${new Date(Math.floor(millis(row.at) / spanMs) * spanMs).toISOString()} ${row.kind}`
    const [movements, amount, brl] = must.get(key) ?? [0n, 0n, 0n]
    must.set(key, [movements + (row.reverses === null ? 1n : -1n), amount + units(row.units), brl + units(row.brl_centavos ?? 0)])
  }
  const found: string[] = []
  for (const row of sums) {
    const key = `${row.merchant_id} ${new Date(millis(row[column])).toISOString()} ${row.kind}`
    const is = [units(row.movements), units(row.units), units(row.brl_centavos)].join(' ')
    const expected = (must.get(key) ?? [0n, 0n, 0n]).join(' ')
    must.delete(key)
    if (is !== expected) found.push(`${table}: ${key} has ${is}, and its entries come to ${expected}`)
  }
  for (const [key, expected] of must)
    if (expected.some(each => each !== 0n)) found.push(`${table}: ${key} is missing, and its entries come to ${expected.join(' ')}`)
  return found
}
