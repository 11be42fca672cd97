import { getCreateAddress } from 'ethers'
import { chainOfId, offersOf, ownPayouts, payoutOn } from './networks'
import { groupBy, lower, millis, type Row, text, unlike } from './rows'

export interface PayoutBooks {
  /** As orders has them, by the merchant's versions. */
  payoutAddresses: readonly Row[]
  merchants: readonly Row[]
  orders: readonly Row[]
  attachments: readonly Row[]
  /** The listener's. */
  payouts: readonly Row[]
  /** As orders asks for them on that network, and was notified of them. */
  payoutSpans: readonly Row[]
  chainId: number
  /** The listener's history of now. */
  generation: string | null
  token: string | null
  now: number
  /** A restored database of orders may have forgotten some. */
  hasForgotten: boolean
}

const MINUTE_MS = 60_000
/** Asked for as they come, and again every minute. */
const ASKED_MS = 10 * MINUTE_MS

/** Payout addresses are those of the merchants and of their orders, and the listener watches each of them, and no other. */
export function payoutDifferences(books: PayoutBooks): string[] {
  return [...historyDifferences(books), ...watchDifferences(books), ...spanDifferences(books)]
}

function historyDifferences({ payoutAddresses, merchants, orders, attachments }: PayoutBooks): string[] {
  const attached = new Set(attachments.map(({ order_id, payment_id }) => `${order_id} ${chainOfId(payment_id)}`))
  const versions = groupBy(payoutAddresses, row => String(row.merchant_id))
  const known = new Map(merchants.map(({ id, version }) => [String(id), Number(version)]))
  // A version that changed no address of the one before has no row.
  const rowOf = (id: unknown, version: unknown) =>
    (versions.get(String(id)) ?? [])
      .filter(row => Number(row.merchant_version) <= Number(version))
      .toSorted((a, b) => Number(b.merchant_version) - Number(a.merchant_version))[0]
  return [
    ...merchants.flatMap(({ id, version, payout_address, payout_addresses }) => {
      const newest = rowOf(id, Number.POSITIVE_INFINITY)
      return unlike(`the newest payout address of merchant ${id}`, [
        ['version', newest && Number(newest.merchant_version) > Number(version) ? newest.merchant_version : version, version],
        ['address', lower(newest?.payout_address), lower(payout_address)],
        ['addresses of single networks', ownPayouts(newest?.of_networks), ownPayouts(payout_addresses)],
      ])
    }),
    ...[...versions.keys()].filter(id => !known.has(id)).map(id => `payout address: merchant ${id} has one, and is not known`),
    ...orders.flatMap(order => {
      // A gateway's terms may come with an order before they come by themselves.
      const isAhead = Number(order.merchant_version) > (known.get(String(order.merchant_id)) ?? 0)
      const row = isAhead ? undefined : rowOf(order.merchant_id, order.merchant_version)
      if (!row) return []
      const about = `the payout address of merchant ${order.merchant_id} by version ${order.merchant_version}`
      return [
        ...unlike(
          about,
          offersOf(order).map(({ chain, merchant, isOffered }) => {
            // Where it was not offered when it was made, it is that of its first network; the release before kept the one of that network.
            const known = [
              payoutOn(row, chain),
              ...(isOffered && !attached.has(`${order.id} ${chain}`) ? [] : [payoutOn(row, order.chain_id)]),
            ]
            return ['address', known.includes(merchant) ? merchant : known[0], merchant]
          }),
        ),
        ...(millis(row.since) > millis(order.created_at) + MINUTE_MS
          ? [`since: ${about} is of ${row.since}, after its order ${order.id}`]
          : []),
      ]
    }),
  ]
}

function watchDifferences({
  payoutAddresses,
  payoutSpans,
  orders,
  payouts,
  chainId,
  generation,
  token,
  now,
  hasForgotten,
}: PayoutBooks): string[] {
  const watched = new Map(payouts.map(row => [String(row.address), row]))
  const deposits = new Set(orders.flatMap(offersOf).map(({ deposit }) => deposit))
  const routers = [...new Set(orders.map(({ router_address }) => String(lower(router_address))))]
  const unpayable = new Set([token, `0x${'0'.repeat(40)}`, ...routers, ...routers.map(from => lower(getCreateAddress({ from, nonce: 1 })))])
  const asked = groupBy(
    payoutAddresses.filter(row => payoutOn(row, chainId) !== null && !unpayable.has(payoutOn(row, chainId))),
    row => String(payoutOn(row, chainId)),
  )
  const spans = new Map(payoutSpans.map(row => [String(row.address), row]))
  const differences: string[] = []
  for (const [address, rows] of asked) {
    const row = watched.get(address)
    watched.delete(address)
    const about = `payout address ${address}`
    const span = spans.get(address)
    const isAsked = span?.asked_generation === generation
    if (!isAsked && rows.some(({ since }) => now - millis(since) > ASKED_MS))
      differences.push(`payouts: ${about} was not sent to the listener`)
    else if (!row && !deposits.has(address) && isAsked) differences.push(`payouts: the listener does not watch ${about}`)
    const first = span?.asked_from ?? null
    if (row && first !== null && Number(row.watch_from) > Number(first))
      differences.push(`payouts: ${about} is watched from block ${row.watch_from} on, and it was asked for from ${text(first)} on`)
  }
  if (!hasForgotten)
    for (const address of watched.keys()) differences.push(`payouts: the listener watches payout address ${address}, which no merchant has`)
  return differences
}

/** The listener watches each in the blocks that it has stated to orders. */
function spanDifferences({ payouts, payoutSpans, generation }: PayoutBooks): string[] {
  const stated = new Map(payoutSpans.filter(row => row.generation !== null).map(row => [String(row.address), row]))
  const differences = payouts.flatMap(row => {
    const span = stated.get(String(row.address))
    stated.delete(String(row.address))
    const about = `payout address ${row.address}`
    if (!span) return [`payouts: orders does not know how ${about} is watched`]
    return unlike(`${about} at orders`, [
      ['chain', text(span.chain_id), text(row.chain_id)],
      ['generation', span.generation, generation],
      ['revision', text(span.revision), text(row.revision)],
      ['watch_from', text(span.watch_from), text(row.watch_from)],
      ['watch_until', text(span.watch_until), text(row.watch_until)],
    ])
  })
  return [
    ...differences,
    ...[...stated.keys()].map(address => `payouts: the listener does not watch payout address ${address}, which orders believes`),
  ]
}
