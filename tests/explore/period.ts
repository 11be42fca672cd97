import type { PaidData } from '@ponte/contracts'
import { subscriptionRules } from '@ponte/subscriptions'
import type { Model, Step } from './explorer'

export type PeriodRules = Pick<typeof subscriptionRules, 'advance' | 'recordClosed' | 'recordPaid' | 'recordReceived' | 'recordRefused'>
type Subscription = subscriptionRules.Subscription
type Change = subscriptionRules.Change

/** A plan of two periods of ten days, with one retry on the third day: when our clock looks, what payers do, and what is not known yet. */
export interface PeriodScope {
  whenUnpaid: 'leave' | 'pause' | 'cancel'
  unpaidPeriodsMax: number
  /** The days on which the scheduler looks, at whichever moment between the other things that happen. */
  looks: readonly number[]
  paymentsMax: number
  /** Whether the payout address may be missing at a look, and whether orders may refuse to open. */
  obstacles: boolean
  maxPeriods: number | null
}

type Outcome = 'requested' | 'open' | 'paid' | 'expired' | 'cancelled' | 'refused'

/** What stands in the orders service: the truth, of which the plan knows what was reported. */
interface OrderTruth {
  id: string
  period: number
  outcome: Outcome
  /** Money that pays it came before its end, and will be confirmed. */
  hasMoney: boolean
  /** All of its money came after its end. */
  isLate: boolean
}

interface Report {
  order: string
  kind: 'paid' | 'expired' | 'cancelled' | 'refused' | 'received'
}

export interface PeriodState {
  plan: Subscription
  /** How many of the looks have been. */
  looked: number
  orders: readonly OrderTruth[]
  sent: readonly Report[]
  read: readonly Report[]
  payments: number
  charged: readonly string[]
  requested: readonly string[]
  /** What went wrong in the step that led here. */
  fault: string | null
}

export const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 86_400_000)
const LIFE_S = 2 * 86_400

/** As orders reports an order that is paid. */
export const paidData = (id: string, brl_amount = '49.90', usdc_amount = '9.206643'): PaidData => ({
  ...{ id, subscription_id: 's', external_ref: null, brl_amount, usdc_amount },
  ...{ tx_hash: `0x${'1'.repeat(64)}`, memo: 'a'.repeat(64), paid_at: day(0).toISOString() },
})

type NewPlan = Parameters<typeof subscriptionRules.open>[0]
type Chosen = 'brlCentavos' | 'plan' | 'orderExpiresInS' | 'maxPeriods' | 'dunning'
export const openPlan = (chosen: Pick<NewPlan, Chosen>): Subscription =>
  subscriptionRules.open(
    {
      ...{ id: 's', merchantId: 'm', payerToken: null, externalRef: null, description: null, metadata: {}, timezone: 'UTC' },
      ...{ startAt: day(0), maxPeriodsCounts: 'payments', trialPeriods: 0, expiresAt: null },
      ...chosen,
    },
    day(0),
  )

/** The service's own rules, or some with a fault put back. */
export function periodModel(scope: PeriodScope, rules: PeriodRules = subscriptionRules): Model<PeriodState> {
  const { advance, recordClosed, recordPaid, recordReceived, recordRefused } = rules
  const { looks, paymentsMax, obstacles } = scope
  const plan = openPlan({
    brlCentavos: 4990n,
    plan: { interval: 'day', intervalCount: 10 },
    orderExpiresInS: LIFE_S,
    maxPeriods: scope.maxPeriods,
    dunning: { noticeS: 0, retryAfterS: [3 * 86_400], unpaidPeriodsMax: scope.unpaidPeriodsMax, whenUnpaid: scope.whenUnpaid },
  })
  const start: PeriodState = { plan, looked: 0, orders: [], sent: [], read: [], payments: 0, charged: [], requested: [], fault: null }
  const clock = (state: PeriodState) => day(looks[Math.max(0, state.looked - 1)] ?? 0)

  return {
    start,
    key: keyOf,
    *steps(state) {
      yield* looksOf(state)
      for (const order of state.orders) yield* ordersOf(state, order)
      for (const report of state.sent) {
        const step = hear(state, report)
        // What is read again and changes nothing leads nowhere new.
        if (!isIn(state.read, report) || keyOf(step.next) !== keyOf(state)) yield step
      }
    },
    faults: (state, isLast) => [...(state.fault === null ? [] : [state.fault]), ...faultsOf(state, isLast)],
  }

  function* looksOf(state: PeriodState): Iterable<Step<PeriodState>> {
    const at = looks[state.looked]
    if (at === undefined) return
    for (const hasPayoutAddress of obstacles ? [true, false] : [true]) {
      const minted = { orderId: `order ${state.orders.length + 1}`, memo: 'a'.repeat(64), hasPayoutAddress }
      const next = apply({ ...state, looked: state.looked + 1 }, advance(state.plan, day(at), minted))
      yield { name: `on day ${at} the scheduler looks${hasPayoutAddress ? '' : ', without a payout address'}`, next }
    }
  }

  function* ordersOf(state: PeriodState, order: OrderTruth): Iterable<Step<PeriodState>> {
    const become = (outcome: Outcome, change: Partial<OrderTruth> = {}): PeriodState => ({
      ...state,
      orders: state.orders.map(other => (other === order ? { ...order, ...change, outcome } : other)),
      sent: outcome === 'requested' || outcome === 'open' ? state.sent : sorted([...state.sent, { order: order.id, kind: outcome }]),
    })
    if (order.outcome === 'requested') {
      yield { name: `${order.id} is opened`, next: become('open') }
      if (obstacles) yield { name: `${order.id} is refused: no rate in its time`, next: become('refused') }
    }
    const canBePaid = state.payments < paymentsMax
    if (order.outcome === 'open' && !order.hasMoney) {
      if (canBePaid)
        yield { name: `${order.id} is paid in time`, next: { ...become('open', { hasMoney: true }), payments: state.payments + 1 } }
      yield { name: `${order.id} expires by chain time`, next: become('expired') }
    }
    if (order.outcome === 'open' && order.hasMoney) yield { name: `the payment of ${order.id} is confirmed`, next: become('paid') }
    if (order.outcome === 'expired' && !order.isLate && canBePaid) {
      // A block that was not read yet, or came back: lateness is judged by its time.
      yield {
        name: `${order.id} turns out to have been paid in time`,
        next: { ...become('paid', { hasMoney: true }), payments: state.payments + 1 },
      }
      const late = become('expired', { isLate: true })
      const sent = sorted([...state.sent, { order: order.id, kind: 'received' }])
      yield { name: `${order.id} is paid after its end`, next: { ...late, sent, payments: state.payments + 1 } }
    }
  }

  function hear(state: PeriodState, report: Report): Step<PeriodState> {
    const { order, kind } = report
    const at = clock(state)
    const isAgain = isIn(state.read, report)
    const heard = isAgain ? state : { ...state, read: sorted([...state.read, report]) }
    return { name: `the plan reads${isAgain ? ' again' : ''}: ${order} ${kind}`, next: apply(heard, decide(state.plan, order, kind, at)) }
  }

  function decide(known: Subscription, order: string, kind: Report['kind'], at: Date): Change {
    if (kind === 'paid') return recordPaid(known, paidData(order), at)
    if (kind === 'refused') return recordRefused(known, order, 'rate_unavailable', at)
    if (kind !== 'received') return recordClosed(known, order, kind, at)
    const report = { merchant_id: 'm', merchant_version: 1, subscription_id: 's', order_id: order, revision: 1, missing_brl_amount: '0.00' }
    return recordReceived(known, { ...report, order: paidData(order) }, at)
  }

  /** What follows in the orders service from what the plan decided: an order to open, or orders to close once no money counts for them. */
  function apply(state: PeriodState, change: Change): PeriodState {
    let { orders, sent, charged, requested } = state
    let fault: string | null = null
    const close = (id: string) => {
      const order = orders.find(one => one.id === id)
      if (!order || order.hasMoney || (order.outcome !== 'open' && order.outcome !== 'requested')) return
      orders = orders.map(other => (other === order ? { ...order, outcome: 'cancelled' } : other))
      sent = sorted([...sent, { order: id, kind: 'cancelled' }])
    }
    for (const fact of change.facts) {
      if (fact.kind === 'charge_requested') {
        const period = fact.charge.periodIndex
        const other = orders.find(one => one.period === period && (one.outcome === 'open' || one.outcome === 'requested'))
        if (other) fault = `${fact.attempt.orderId} is asked for while ${other.id} of the same period can still be paid`
        orders = [...orders, { id: fact.attempt.orderId, period, outcome: 'requested', hasMoney: false, isLate: false }]
        requested = [...requested, fact.attempt.orderId]
      }
      if (fact.kind === 'charged') charged = [...charged, fact.order.id]
      if (fact.kind === 'duplicate' && charged.includes(fact.orderId))
        fault = `${fact.orderId} is the period's charge, and is called its duplicate`
      if (fact.kind === 'superseded') close(fact.orderId)
      if (fact.kind === 'cancelled' || fact.kind === 'expired') {
        const paid = orders.find(order => order.hasMoney && order.outcome === 'open')
        if (fact.kind === 'cancelled' && paid) fault = `the plan is cancelled while the payment of ${paid.id}, made in time, is not decided`
        for (const id of fact.openOrderIds) close(id)
      }
      if (fact.kind === 'paused') {
        const paid = orders.find(order => order.hasMoney && order.outcome === 'open')
        if (paid) fault = `the plan is paused as unpaid while the payment of ${paid.id}, made in time, is not decided`
      }
    }
    return { ...state, plan: change.subscription, orders, sent, charged, requested, fault }
  }
}

const keyOf = ({ plan: { version: _, ...known }, ...state }: PeriodState): string =>
  JSON.stringify([known, state], (name, value) =>
    name === 'issuedAt' || name === 'pausedAt' ? value !== null : typeof value === 'bigint' ? `${value}` : value,
  )

const nameOf = ({ order, kind }: Report) => `${order} ${kind}`
const sorted = (reports: readonly Report[]): Report[] => reports.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
const isIn = (reports: readonly Report[], { order, kind }: Report) => reports.some(one => one.order === order && one.kind === kind)

/** What must hold of every state, and of the last: judged from what happened to orders, not from how the plan decides. */
function faultsOf({ plan, orders, charged, read, sent }: PeriodState, isLast: boolean): string[] {
  const faults: string[] = []
  const periodOf = (id: string) => orders.find(order => order.id === id)?.period
  const periods = charged.map(periodOf)
  if (new Set(periods).size < periods.length) faults.push('a period is charged twice')
  if (charged.some(id => orders.find(order => order.id === id)?.outcome !== 'paid')) faults.push('a charge counts that was not paid')
  const extra = orders.find(
    ({ outcome, hasMoney, period }) => (outcome === 'open' || outcome === 'requested') && !hasMoney && periods.includes(period),
  )
  if (extra) faults.push(`${extra.id} can still be paid, and its period is charged`)
  if (plan.chargesDone !== charged.length) faults.push('charges_done is not the number of charges')
  if (!isLast || read.length < sent.length) return faults
  const paid = new Set(orders.filter(({ outcome }) => outcome === 'paid').map(({ period }) => period))
  if (paid.size !== charged.length) faults.push('a paid period is not charged')
  const newest = Math.max(...orders.map(({ period }) => period))
  if (plan.pauseReason === 'unpaid' && paid.has(newest)) faults.push('the newest period is paid and the plan stays paused as unpaid')
  return faults
}
