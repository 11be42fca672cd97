import type { CheckoutBody, List, OrderBody, SubscriptionBody } from '@ponte/contracts'
import type { Sql } from '@ponte/service-kit'
import { TAKEN_BACK, TOPPED_UP } from './stories'

/** By names instead of ids and without times, so that two runs can be compared. */
export interface Books {
  orders: string[]
  subscriptions: string[]
  /** Of the pull, each once. */
  events: string[]
  /** By endpoint; repetitions of one delivery count once. */
  delivered: Record<string, string[]>
  mails: string[]
}

export type Ask = <T>(method: string, path: string, body?: object) => Promise<T>
interface EventBody {
  id: string
  type: string
  data: Record<string, unknown>
}

const line = (...parts: unknown[]) => parts.map(part => (typeof part === 'string' ? part : JSON.stringify(part))).join(' | ')

export async function readBooks(ask: Ask, sql: Sql, merchantId: string, bodies: ReadonlyMap<string, readonly string[]>): Promise<Books> {
  const all = async <T extends { id: string }>(path: string) => {
    const items: T[] = []
    for (let page: List<T> | null = null; page?.has_more !== false; items.push(...page.data)) {
      const last: T | undefined = items.at(-1)
      page = await ask<List<T>>('GET', `${path}?limit=100${last ? `&starting_after=${last.id}` : ''}`)
    }
    return items
  }
  const orders = await Promise.all((await all<OrderBody>('/orders')).map(({ id }) => ask<OrderBody>('GET', `/orders/${id}`)))
  const plans = await Promise.all(
    (await all<SubscriptionBody>('/subscriptions')).map(({ id }) => ask<SubscriptionBody>('GET', `/subscriptions/${id}`)),
  )
  const { rows: mails } = await sql.query<{ kind: string }>('SELECT kind FROM mails WHERE merchant_id = $1', [merchantId])
  const checkouts = await Promise.all(orders.map(({ id }) => ask<CheckoutBody>('GET', `/checkout/${id}`)))
  const pulled = await all<EventBody>('/events')
  const events = lasting(pulled).map(eventLine).sort()
  // Two events of a plan that pauses twice have one body.
  const distinct = [...new Map(pulled.map(event => [JSON.stringify([event.type, event.data]), event])).values()]
  const delivered = [...bodies].map(([name, each]) => {
    const got = [...new Set(each)].map((body): EventBody => JSON.parse(body))
    const isComplete = String(got.map(eventLine).sort()) === String(distinct.map(eventLine).sort())
    return [name, isComplete ? ['every event'] : lasting(got).map(eventLine).sort()] as const
  })
  const count = (items: readonly { kind: string }[], kind: string) => items.filter(item => item.kind === kind).length
  const published = pulled.map(({ type }) => ({ kind: type }))
  return {
    orders: orders.map((order, index) => orderLine(order, checkouts[index]?.authorization?.status ?? null, pulled)).sort(),
    subscriptions: plans.map(planLine).sort(),
    events,
    delivered: Object.fromEntries(delivered),
    // A passing state has its mail when it has its event.
    mails: [
      ...mails.flatMap(({ kind }) => (MAILED.some(([mail]) => mail === kind) ? [] : [kind])).sort(),
      ...MAILED.map(([mail, type]) => `${mail}: ${count(mails, mail) - count(published, type)} more than ${type}`),
    ],
  }
}

const MAILED = [
  ['money.underpaid', 'order.underpaid'],
  ['payment.order', 'order.paid'],
] as const

/**
 * What was true for a while is notified only when it was seen: parts of a payment may come at once, and one that the chain took back may come as taken
 * back. The latter stands with its order.
 */
function lasting(events: readonly EventBody[]): EventBody[] {
  const partly = events.find(({ type, data }) => type.endsWith('underpaid') && data.external_ref === TOPPED_UP)
  return events.filter(event => event !== partly && event.data.external_ref !== TAKEN_BACK)
}

/** Exception, whether a transaction and a time of payment are shown, and what was published, of an order whose payment was taken back. */
const TAKEN_BACK_OUTCOMES = ['reorged | true | true | ["order.paid","order.settled"]', 'null | false | false | ["order.expired"]']

const eventLine = (each: Pick<EventBody, 'type' | 'data'>) =>
  line(each.type, each.data.external_ref ?? each.data.reason ?? each.data.action ?? each.data.amount, surplusOf(each))
const surplusOf = ({ type, data }: Pick<EventBody, 'type' | 'data'>) =>
  type !== 'order.underpaid' && typeof data.received === 'string' ? data.received : ''

const orderLine = (order: OrderBody, signature: string | null, events: readonly EventBody[]) => {
  const payments = (order.payments ?? []).map(({ kind, amount, status, settlement }) => `${kind} ${amount} ${status} ${settlement.status}`)
  const shown = [order.external_ref, order.status, order.brl_amount, order.received, payments.sort(), signature]
  const outcome = line(order.exception, order.tx_hash !== null, order.paid_at !== null)
  if (order.external_ref !== TAKEN_BACK) return line(...shown, outcome)
  const published = events.filter(({ data }) => data.id === order.id).map(({ type }) => type)
  const whole = line(outcome, published.sort())
  return line(...shown, TAKEN_BACK_OUTCOMES.includes(whole) ? 'one of its outcomes' : whole)
}

const planLine = (plan: SubscriptionBody) =>
  line(
    ...[plan.external_ref, plan.status, plan.charges_done, plan.paused_at !== null, plan.waiting_for, plan.open_order_id !== null],
    (plan.charges ?? []).map(charge => [
      ...[charge.period_index, charge.status, charge.brl_amount, charge.received_brl_amount],
      charge.orders.map(({ status, brl_amount, reason }) => [status, brl_amount, reason]),
    ]),
  )
