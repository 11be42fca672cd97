import { accountDifferences } from './accounts'
import { checkpointDifferences } from './checkpoints'
import { entryDifferences } from './entries'
import { forgottenBy, type LostOrder, lostOrders, type Restored } from './lost'
import { offersOf, orderPayoutOn } from './networks'
import { feeDifferences, networkDifferences, type OrderEvent, orderDifferences } from './orders'
import { addressesAgainstOrders, authorizationDifferences, ledgerAgainstOrders, paymentsOf } from './payments'
import { payoutDifferences } from './payouts'
import { periodDifferences } from './periods'
import { askPublished, rateDifferences } from './rates'
import { returnsAgainstListener } from './returns'
import { ask, groupBy, lower, type OpsUrls, type Row, readTable, text } from './rows'
import { eventOf, eventsAgainstDeliveries } from './webhooks'

export type { Restored } from './lost'
export type { OpsUrls } from './rows'

const CHAIN_SPAN = 5_000
const DAY_MS = 86_400_000
/** The outbox forgets what was sent seven days ago. */
const OUTBOX_DAYS = 6.9

export interface AuditOptions {
  /** Blocks of the first network that are held against its chain; those of each other one are all. */
  from: number
  /** The last confirmed block when it is not given. */
  to: number | undefined
  /** The setting PAYMENT_TOLERANCE_UNITS. */
  toleranceLimit?: bigint
  now?: number
  /** Spans that a restored database of orders forgot: what went with it is named, and is no difference. */
  restored?: readonly Restored[]
  /** Chains of retired networks, whose listeners are gone. */
  retired?: readonly number[]
  /** The setting PTAX_URL: what it publishes is compared with what is kept. */
  ptaxUrl?: string
}

export interface Report {
  /** The first, and each other one. */
  networks: { chainId: number; from: number; to: number; payments: number; unmatched: number }[]
  orders: number
  events: number
  addresses: number
  lost: LostOrder[]
  /** Facts that could not be compared, and why. */
  unchecked: string[]
  differences: string[]
}

interface Status {
  chain_id: number
  confirmed_block: number | null
  generation: string | null
  token_address: string
}

/** Joins everything that two places know, and names each difference. It asks the ops ports for rows and believes no judgement of the services but the listener's of the chain. */
export async function audit(
  urls: OpsUrls,
  { from, to: wanted, toleranceLimit = 10_000n, now = Date.now(), restored = [], retired = [], ptaxUrl }: AuditOptions,
): Promise<Report> {
  const { orders, 'webhook-dispatcher': dispatcher } = urls
  const listeners = await Promise.all(
    [urls['chain-listener'], ...(urls.otherListeners ?? [])].map((url, index) =>
      askedOf(url, index === 0 ? { from, to: wanted } : { from: 0 }),
    ),
  )
  const onChain = (await Promise.all(listeners.map(chainDifferences))).flat()
  const networks = new Map(
    listeners.map(({ status }) => [String(status.chain_id), { generation: status.generation, token: lower(status.token_address) }]),
  )
  if (networks.size < listeners.length) throw new Error('Two of the listeners are of one chain.')
  const asked = retired.find(chainId => networks.has(String(chainId)))
  if (asked !== undefined) throw new Error(`Chain ${asked} is not retired: its listener is asked.`)
  const ofListeners = async (table: string) => (await Promise.all(listeners.map(({ url }) => readTable(url, table)))).flat()
  const ofService = async (service: 'api-gateway' | 'subscriptions', tables: readonly string[]) => {
    const url = urls[service]
    return url === undefined ? undefined : Promise.all(tables.map(table => readTable(url, table)))
  }
  const [first] = listeners
  if (!first) throw new Error('There is no listener to ask.')
  // Before their copies, which are never ahead of them.
  const subscribed = await ofService('subscriptions', ['merchants', 'charges', 'attempts'])
  const accounts = await ofService('api-gateway', ['merchants', 'members', 'api_keys', 'named_keys'])
  const [ledger, payables, authorizations, watches, checkpoints] = await Promise.all([
    ofListeners('payments'),
    ofListeners('payables'),
    ofListeners('authorizations'),
    ofListeners('refund_watches'),
    ofListeners('checkpoints'),
  ])
  const payouts = await Promise.all(listeners.map(async ({ url, status }) => ({ status, rows: await readTable(url, 'payouts') })))
  const [refunds, signatures, ofFirstNetwork, ofOtherNetworks] = await Promise.all([
    readTable(orders, 'refunds'),
    readTable(orders, 'refund_signatures'),
    readTable(orders, 'authorizations'),
    readTable(orders, 'network_authorizations'),
  ])
  const [orderRows, payments, sweeps, unmatched, attachments, orderNetworks = [], outbox, merchants, cursors] = await Promise.all(
    ['orders', 'payments', 'sweeps', 'unmatched_payments', 'attachments', 'order_networks', 'outbox', 'merchants', 'chain_cursors'].map(
      table => readTable(orders, table),
    ),
  )
  const [payoutAddresses = [], payoutSpans = [], entries = [], ledgers = [], quarterSums = [], daySums = [], closes = []] =
    await Promise.all(
      ['payout_addresses', 'payout_spans', 'entries', 'ledgers', 'entry_sums', 'entry_day_sums', 'ledger_close'].map(table =>
        readTable(orders, table),
      ),
    )
  const [marketRates, ptaxRates] = await Promise.all([readTable(orders, 'market_rates'), readTable(orders, 'ptax_rates')])
  const unchecked = retired.map(chainId => `what is of chain ${chainId}, which is retired`)
  for (const [service, rows] of Object.entries({ 'api-gateway': accounts, subscriptions: subscribed }))
    if (!rows) unchecked.push(`what ${service} owns: its ops port is not named`)
  const published =
    ptaxUrl === undefined ? undefined : await askPublished(ptaxUrl, ptaxRates).catch(error => void unchecked.push(String(error)))
  const [events, deliveries, attempts, receivers] = await Promise.all(
    ['events', 'deliveries', 'attempts', 'merchants'].map(table => readTable(dispatcher, table)),
  )
  const books = {
    created: createdOf(outbox ?? []),
    remembered: now - OUTBOX_DAYS * DAY_MS,
    ...{ ledger, payables, networks, orderNetworks, retired: new Set(retired.map(String)) },
    ...{
      orders: orderRows ?? [],
      payments: payments ?? [],
      unmatched: unmatched ?? [],
      attachments: attachments ?? [],
      sweeps: sweeps ?? [],
    },
  }
  const isForgotten = forgottenBy(restored)
  const lost = lostOrders(books, isForgotten)
  /** Until when every network of the order is read and confirmed, in seconds. */
  const confirmedTime = (order: Row) =>
    Math.min(
      ...offersOf(order)
        .filter(({ isOffered }) => isOffered)
        .map(({ chain }) => Date.parse(String(cursors?.find(row => text(row.chain_id) === chain)?.confirmed_time ?? 0)) / 1_000),
    )
  const others = new Map([
    ...listeners.map(({ status, confirmed }) => [String(status.chain_id), confirmed] as const),
    ...retired.map(chainId => [String(chainId), Number.POSITIVE_INFINITY] as const),
  ])
  const firstOf = new Map(books.orders.map(row => [row.id, row.chain_id]))
  const signed = [...ofFirstNetwork.map(row => ({ ...row, chain_id: firstOf.get(row.order_id) ?? null })), ...ofOtherNetworks]
  const facts = gather({ ledger, payments: books.payments, merchants: merchants ?? [], outbox: outbox ?? [] })
  const differences = [
    ...onChain,
    ...ledgerAgainstOrders(books),
    ...addressesAgainstOrders(books, new Set(lost.map(({ id }) => id))),
    ...entryDifferences({ ...books, refunds, payoutAddresses, entries, ledgers, quarterSums, daySums, closes }),
    ...rateDifferences({ marketRates, ptaxRates, published: published ?? undefined }),
    ...payouts.flatMap(({ status, rows }) =>
      payoutDifferences({
        ...{ chainId: status.chain_id, generation: status.generation, token: lower(status.token_address) },
        ...{ orders: books.orders, attachments: books.attachments },
        payoutAddresses,
        payoutSpans: payoutSpans.filter(({ chain_id }) => chain_id === status.chain_id),
        payouts: rows,
        merchants: merchants ?? [],
        now,
        hasForgotten: restored.length > 0,
      }),
    ),
    ...checkpointDifferences(checkpoints, ledger),
    ...returnsAgainstListener({ ...books, refunds, signatures, watches, now, isForgotten }),
    ...authorizationDifferences(signed, authorizations),
    ...networkDifferences(books.orders, orderNetworks),
    ...feeDifferences(books.orders),
    ...(accounts
      ? accountDifferences({
          ...{ merchants: accounts[0] ?? [], members: accounts[1] ?? [], apiKeys: accounts[2] ?? [], namedKeys: accounts[3] ?? [] },
          copies: {
            orders: merchants ?? [],
            'webhook-dispatcher': receivers ?? [],
            ...(subscribed ? { subscriptions: subscribed[0] ?? [] } : {}),
          },
          events: events ?? [],
          ...{ now, isForgotten },
        })
      : []),
    ...(subscribed ? periodDifferences(subscribed[1] ?? [], subscribed[2] ?? [], books.orders) : []),
    ...books.orders.flatMap(order =>
      orderDifferences({
        order,
        ...facts(order),
        hasAllEvents: now - Date.parse(String(order.created_at)) < OUTBOX_DAYS * DAY_MS,
        // A payment that is deep enough is confirmed; those above are compared with the listener's state of them.
        confirmed: { block: first.confirmed, others, time: confirmedTime(order) },
        toleranceLimit,
      }),
    ),
    ...eventsAgainstDeliveries({
      outbox: outbox ?? [],
      events: events ?? [],
      deliveries: deliveries ?? [],
      attempts: attempts ?? [],
      merchants: receivers ?? [],
      now,
      isForgotten,
    }),
  ]
  return {
    networks: listeners.map(({ status: { chain_id }, from, to }) => {
      const isHere = (row: Row) => Number(row.chain_id) === chain_id && Number(row.block_number) >= from && Number(row.block_number) <= to
      return {
        ...{ chainId: chain_id, from, to },
        payments: ledger.filter(row => row.kind !== 'sweep' && row.state !== 'orphaned' && isHere(row)).length,
        unmatched: books.unmatched.filter(row => row.status === 'confirmed' && isHere(row)).length,
      }
    }),
    orders: books.orders.length,
    events: events?.length ?? 0,
    addresses: payables.filter(({ address }) => address !== null).length,
    lost,
    unchecked,
    differences,
  }
}

interface Asked {
  url: string
  status: Status
  confirmed: number
  /** The blocks that are held against the chain. */
  from: number
  to: number
}

async function askedOf(url: string, { from, to: wanted }: { from: number; to?: number | undefined }): Promise<Asked> {
  const status = await ask<Status>(url, '/status')
  const confirmed = status.confirmed_block
  if (confirmed === null) throw new Error(`The listener of chain ${status.chain_id} has confirmed nothing yet.`)
  const to = Math.min(wanted ?? confirmed, confirmed)
  if (from > to) throw new Error(`Block ${from} is not confirmed yet; the last one that is, is ${confirmed}.`)
  return { url, status, confirmed, from, to }
}

/** The chain against the listener's rows, log by log, and what every address holds: read by the listener through another node than its scan. */
async function chainDifferences({ url: listener, from, to }: Asked): Promise<string[]> {
  interface Difference {
    kind: string
    tx_hash: string | null
    log_index: number | null
    block_number: number
    memo: string
    detail: string
  }
  const found: string[] = []
  for (let first = from; first <= to; first += CHAIN_SPAN) {
    const path = `/reconcile?from_block=${first}&to_block=${Math.min(to, first + CHAIN_SPAN - 1)}`
    const { differences } = await ask<{ differences: Difference[] }>(listener, path)
    found.push(
      ...differences.map(
        one => `${one.kind}: log ${one.log_index} of transaction ${one.tx_hash} in block ${one.block_number}: ${one.detail}`,
      ),
    )
  }
  for (let after: string | null = ''; after !== null; ) {
    const page: { next: string | null; differences: Difference[] } = await ask(
      listener,
      `/reconcile/addresses${after === '' ? '' : `?after=${after}`}`,
    )
    found.push(...page.differences.map(one => `balance: at block ${one.block_number}: ${one.detail}`))
    after = page.next
  }
  for (let after: string | null = ''; after !== null; ) {
    const page: { next: string | null; differences: { refund_id: string; detail: string }[] } = await ask(
      listener,
      `/reconcile/refunds${after === '' ? '' : `?after=${after}`}`,
    )
    found.push(...page.differences.map(one => `returns: refund ${one.refund_id}: ${one.detail}`))
    after = page.next
  }
  return found
}

/** By the order's id and the chain. */
const createdOf = (outbox: readonly Row[]): Map<string, Row> =>
  new Map(
    outbox.flatMap(row => {
      const data = row.type === 'deposit.watch' ? eventOf(row)?.data : undefined
      return ((data?.orders ?? []) as Row[]).map(order => [`${order.order_id} ${data?.chain_id}`, order] as const)
    }),
  )

function gather({ ledger, payments, merchants, outbox }: Record<'ledger' | 'payments' | 'merchants' | 'outbox', readonly Row[]>) {
  const paid = paymentsOf(payments)
  const swept = groupBy(
    ledger.filter(row => row.kind === 'sweep' && row.state === 'confirmed'),
    row => String(row.memo),
  )
  const byId = new Map(merchants.map(row => [String(row.id), row]))
  const events = new Map<string, OrderEvent[]>()
  for (const row of outbox) {
    const event = eventOf(row)
    const id = (event?.data.order as Record<string, unknown> | undefined)?.id
    if (event && typeof id === 'string') events.set(id, [...(events.get(id) ?? []), event])
  }
  return (order: Row) => ({
    payments: paid.get(String(order.id)) ?? [],
    sweeps: (swept.get(String(order.memo)) ?? []).filter(row => lower(row.merchant) === orderPayoutOn(order, row.chain_id)),
    merchant: byId.get(String(order.merchant_id)),
    events: events.get(String(order.id)) ?? [],
  })
}
