import type { OrderEvent } from './orders'
import { groupBy, type Row, text, unlike } from './rows'

const MINUTE_MS = 60_000
/** Sent to every merchant with a webhook_url. */
const FOR_ALL = ['order.paid', 'order.underpaid', 'order.expired', 'order.cancelled']
/** Sent where they were chosen. */
const CHOSEN = [
  'order.overpaid',
  'order.paid_late',
  'order.paid_after_cancel',
  'order.duplicate',
  'order.settled',
  'order.accepted',
  'order.payment_unmatched',
  'payment.attached',
  'refund.created',
  'refund.confirmed',
  'refund.failed',
]
const TO_MERCHANTS = [...FOR_ALL, ...CHOSEN]

export interface Deliveries {
  outbox: readonly Row[]
  events: readonly Row[]
  deliveries: readonly Row[]
  attempts: readonly Row[]
  merchants: readonly Row[]
  now: number
  /** True for an event that a restored database of orders has published and forgotten. */
  isForgotten(id: unknown): boolean
}

/** Null when it cannot be read, which is named among the events. */
export function eventOf(row: Row): OrderEvent | null {
  try {
    return JSON.parse(String(row.body)) as OrderEvent
  } catch {
    return null
  }
}

/** Every event for a merchant was published, is kept by the dispatcher as it was, and is delivered, on its way, or dead with a reason. */
export function eventsAgainstDeliveries({ outbox, events, deliveries, attempts, merchants, now, isForgotten }: Deliveries): string[] {
  const kept = new Map(events.map(row => [String(row.id), row]))
  const published = groupBy(deliveries, row => String(row.event_id))
  const versions = new Map(merchants.map(row => [String(row.id), row]))
  const differences: string[] = []
  for (const row of outbox) {
    const event = eventOf(row)
    const about = `event ${row.id} (${row.type})`
    if (!event || event.id !== row.id || event.type !== row.type) {
      differences.push(`outbox: ${about} has a body of another event`)
      continue
    }
    const age = now - Date.parse(event.occurred_at)
    if (row.sent_at === null && age > MINUTE_MS) differences.push(`outbox: ${about} is not published`)
    const order = event.data.order as Record<string, unknown> | undefined
    const isSilent = event.type === 'order.paid' && order?.subscription_id !== null
    const mine = kept.get(event.id)
    if (!TO_MERCHANTS.includes(event.type) || isSilent) {
      if (mine) differences.push(`dispatcher: ${about} is kept for the merchant and must not be`)
      continue
    }
    if (!mine) {
      if (row.sent_at !== null) differences.push(`dispatcher: ${about} did not arrive`)
      continue
    }
    differences.push(...keptDifferences(about, mine, event, published.get(event.id) ?? [], versions))
  }
  return [
    ...differences,
    ...foreignDifferences(
      outbox,
      events.filter(({ id }) => !isForgotten(id)),
      deliveries,
      kept,
    ),
    ...attemptDifferences(deliveries, attempts),
    ...numbering(events),
  ]
}

function keptDifferences(
  about: string,
  mine: Row,
  event: OrderEvent,
  deliveries: readonly Row[],
  merchants: ReadonlyMap<string, Row>,
): string[] {
  const { order, payment, refund } = event.data as Record<string, Row | undefined>
  const subject = order ?? payment ?? refund ?? {}
  const type = event.type === 'order.payment_unmatched' ? 'payment.unmatched' : event.type
  const found = unlike(`the dispatcher's ${about}`, [
    ['type', mine.type, type],
    ['merchant', mine.merchant_id, event.data.merchant_id],
    ['merchant_version', mine.merchant_version, event.data.merchant_version],
    ['order', mine.order_id, order?.id ?? subject.order_id ?? null],
    ['subscription', mine.subscription_id, subject.subscription_id ?? event.data.subscription_id ?? null],
    ['body', sorted(mine.body), sorted(JSON.stringify({ type, data: subject }))],
    ['occurred_at', Date.parse(String(mine.occurred_at)), Date.parse(event.occurred_at)],
  ])
  if (mine.waiting === true) found.push(`dispatcher: ${about} waits for its merchant's terms`)
  const merchant = merchants.get(String(mine.merchant_id))
  if (FOR_ALL.includes(event.type) && deliveries.length === 0 && mine.waiting === false && merchant?.webhook_url)
    found.push(`delivery: ${about} has none`)
  for (const delivery of deliveries) found.push(...deliveryDifferences(delivery, mine))
  return found
}

/** The parts of a body in an order of their own: which one the merchant reads first states nothing. */
function sorted(body: unknown): unknown {
  try {
    const { type, data } = JSON.parse(String(body)) as { type: string; data: object }
    return [type, Object.entries(data).sort()]
  } catch {
    return body
  }
}

function deliveryDifferences(delivery: Row, event: Row): string[] {
  const about = `delivery ${delivery.id}`
  const { status, attempts, tries } = delivery
  const found = unlike(about, [
    ['merchant', delivery.merchant_id, event.merchant_id],
    ['event_type', delivery.event_type, event.type],
  ])
  if (!['pending', 'retrying', 'delivered', 'dead'].includes(String(status))) found.push(`status: ${about} is ${status}`)
  if ((status === 'delivered') !== (delivery.delivered_at !== null))
    found.push(`delivered_at: ${about} is ${status} and was delivered at ${delivery.delivered_at}`)
  if (status === 'delivered' && !(Number(delivery.last_http_status) >= 200 && Number(delivery.last_http_status) < 300))
    found.push(`last_http_status: ${about} is delivered by ${delivery.last_http_status}`)
  if (status === 'delivered' && delivery.last_error_code !== null)
    found.push(`last_error_code: ${about} is delivered with ${delivery.last_error_code}`)
  if ((status === 'dead') !== (delivery.dead_reason !== null)) found.push(`dead_reason: ${about} is ${status}, for ${delivery.dead_reason}`)
  if ((status === 'delivered' || status === 'dead') !== (delivery.next_attempt_at === null))
    found.push(`next_attempt_at: ${about} is ${status} and due at ${delivery.next_attempt_at}`)
  if (Number(attempts) > 7 || Number(tries) < Number(attempts) || (status === 'delivered' && Number(attempts) < 1))
    found.push(`attempts: ${about} is ${status} after ${attempts} attempts and ${tries} tries`)
  return found
}

/** The last attempt of a delivery is the one that delivered it. */
function attemptDifferences(deliveries: readonly Row[], attempts: readonly Row[]): string[] {
  const placeOf = (id: unknown, ordinal: unknown) => `${id} ${ordinal}`
  const made = new Map(attempts.map(row => [placeOf(row.delivery_id, row.ordinal), row]))
  return deliveries
    .filter(({ status }) => status === 'delivered')
    .flatMap(({ id, tries, last_http_status }) => {
      const last = made.get(placeOf(id, tries))
      return unlike(`the last attempt of delivery ${id}`, [
        ['outcome', last?.outcome, 'delivered'],
        ['http_status', last?.http_status, last_http_status],
      ])
    })
}

/** Orders in the dispatcher's books that orders never published, and deliveries of no event. */
function foreignDifferences(
  outbox: readonly Row[],
  events: readonly Row[],
  deliveries: readonly Row[],
  kept: ReadonlyMap<string, Row>,
): string[] {
  const published = new Set(outbox.map(({ id }) => String(id)))
  const oldest = outbox.map(({ id }) => String(id)).sort()[0]
  return [
    ...events
      .filter(
        ({ id, type }) => String(type).startsWith('order.') && oldest !== undefined && String(id) >= oldest && !published.has(String(id)),
      )
      .map(({ id, type }) => `dispatcher: event ${id} (${type}) was never published by orders`),
    ...deliveries.filter(({ event_id }) => !kept.has(String(event_id))).map(({ id }) => `delivery: ${id} is of no event`),
    ...deliveries
      .filter(({ replay_of }) => replay_of !== null && !deliveries.some(({ id }) => id === replay_of))
      .map(({ id, replay_of }) => `replay_of: delivery ${id} repeats ${replay_of}, which is not there`),
  ]
}

/** The numbers of a merchant's events follow each other without a gap. */
function numbering(events: readonly Row[]): string[] {
  return [...groupBy(events, row => String(row.merchant_id))].flatMap(([merchant, of]) => {
    const numbers = of.map(({ sequence }) => Number(text(sequence))).sort((a, b) => a - b)
    const first = numbers[0] ?? 0
    return numbers.every((number, index) => number === first + index) && first >= 1
      ? []
      : [`sequence: the events of merchant ${merchant} are numbered ${numbers.join(', ')}`]
  })
}
