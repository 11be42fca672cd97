import type { List, OrderBody, SubscriptionBody } from '@ponte/contracts'
import type { Sql } from '@ponte/service-kit'
import { TAKEN_BACK, TOPPED_UP } from './stories'

/** What a merchant sees and is notified of, by names instead of ids and without times, so that two runs can be compared. */
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
  const mails = await sql.query<{ kind: string }>('SELECT kind FROM mails WHERE merchant_id = $1', [merchantId])
  const named = (bodies: readonly Pick<EventBody, 'type' | 'data'>[]) => bodies.filter(isLasting).map(eventLine).sort()
  const events = named(await all<EventBody>('/events'))
  const delivered = [...bodies].map(([name, each]) => {
    const lines = named([...new Set(each)].map(body => JSON.parse(body)))
    return [name, String(lines) === String(events) ? ['every event'] : lines] as const
  })
  return {
    orders: orders.map(orderLine).sort(),
    subscriptions: plans.map(planLine).sort(),
    events,
    delivered: Object.fromEntries(delivered),
    // Facts of a mail that was given up are gone, so that those about what was true for a while cannot be named.
    mails: mails.rows.flatMap(({ kind }) => (kind === 'money.underpaid' || kind === 'payment.order' ? [] : [kind])).sort(),
  }
}

/**
 * What was true for a while is notified only when it was seen: parts of a payment may come at once, and one that the chain took back may come as taken
 * back.
 */
function isLasting({ type, data }: Pick<EventBody, 'type' | 'data'>): boolean {
  if (data.external_ref === TAKEN_BACK) return false
  return !(type.endsWith('underpaid') && data.external_ref === TOPPED_UP)
}

const eventLine = (each: Pick<EventBody, 'type' | 'data'>) =>
  line(each.type, each.data.external_ref ?? each.data.reason ?? each.data.action ?? each.data.amount, surplusOf(each))
const surplusOf = ({ type, data }: Pick<EventBody, 'type' | 'data'>) =>
  type !== 'order.underpaid' && typeof data.received === 'string' ? data.received : ''

const orderLine = (order: OrderBody) => {
  const payments = (order.payments ?? []).map(({ kind, amount, status, settlement }) => `${kind} ${amount} ${status} ${settlement.status}`)
  const shown = [order.external_ref, order.status, order.brl_amount, order.received, payments.sort()]
  if (order.external_ref === TAKEN_BACK) return line(...shown)
  return line(...shown, order.exception, order.tx_hash !== null, order.paid_at !== null)
}

const planLine = (plan: SubscriptionBody) =>
  line(
    ...[plan.external_ref, plan.status, plan.charges_done, plan.paused_at !== null, plan.waiting_for, plan.open_order_id !== null],
    (plan.charges ?? []).map(charge => [
      ...[charge.period_index, charge.status, charge.brl_amount, charge.received_brl_amount],
      charge.orders.map(({ status, brl_amount, reason }) => [status, brl_amount, reason]),
    ]),
  )
