import { subscriptionRules } from '@ponte/subscriptions'
import { day, openPlan, type PeriodRules, paidData as paidOrder } from '../explore/period'
import { sampledRuns } from './traces'

type Subscription = subscriptionRules.Subscription

/** The variables of spec/period.qnt. */
interface ModelState {
  action_: { name: string; order: number; kind: string; units: number }
  now: number
  asked: { day: number; ends: number; units: number }[]
  received: { order: number; kind: string; units: number }[]
  plan: string
  goesOn: boolean
  counted: number
  charged: number
  dunned: number
  unwanted: number[]
}
export type PeriodTrace = readonly ModelState[]

/** Of the rules alone the scheduler looks whenever it likes; of the running service (`served`) when something happened. */
export const periodTraces = (count: number, seed: number, step: 'step' | 'served' = 'step'): Promise<PeriodTrace[]> =>
  sampledRuns('period', step, count, seed, 60)

/** Of the model's price of four units. */
export const UNIT_CENTAVOS = 1250n
export const DAY_S = 86_400
export const reais = (units: number) => (units * 12.5).toFixed(2)
const CLOSED = ['expired', 'cancelled', 'refused', 'lapsed']

/** What both must say of a plan after each step. */
export interface PeriodOutcome {
  plan: string
  charged: number
  dunned: number
  unwanted: number[]
  goesOn: boolean
  /** Each order that was asked for: its day, its end, its units and what the plan knows of it. */
  orders: [day: number, ends: number, units: number, status: string][]
}

/** What a step says of a run after which model and plan are compared; null where they agree. */
export function periodDifferenceAt(trace: PeriodTrace, index: number, outcome: PeriodOutcome): string | null {
  const state = trace[index]
  const [expected, found] = [state && JSON.stringify(expectedOf(state)), JSON.stringify(outcome)]
  if (expected === found) return null
  const before = trace.slice(0, index + 1).map(step => `day ${step.now}: ${Object.values(step.action_).join(' ')}`)
  return `step ${index}: the model says ${expected}, and it is ${found}, after\n${before.join('\n')}`
}

/** The rules of plans, asked for each look and each report of a run; names the first step after which the two differ, null when none does. */
export function periodDifference(trace: PeriodTrace, rules: PeriodRules = subscriptionRules): string | null {
  const replay = playing(rules)
  for (const [index, { action_, now, asked }] of trace.entries()) {
    if (action_.name === 'look') replay.look(day(now), action_.kind === '')
    if (action_.name === 'hear') replay.hear(action_, asked[action_.order]?.units ?? 0, day(now))
    const difference = periodDifferenceAt(trace, index, replay.outcome())
    if (difference !== null) return difference
  }
  return null
}

function playing({ advance, recordClosed, recordPaid, recordReceived, recordRefused }: PeriodRules) {
  let plan = opened()
  const counts = { charged: 0, dunned: 0, goesOn: false }
  const unwanted = new Set<string>()
  let minted = 0
  const take = ({ subscription, facts }: subscriptionRules.Change) => {
    plan = subscription
    for (const fact of facts) {
      if (fact.kind === 'charged') counts.charged++
      if (fact.kind === 'past_due') counts.dunned++
      if (fact.kind === 'superseded') unwanted.add(fact.orderId)
      if (fact.kind === 'charge_requested' && fact.charge.periodIndex > 0) counts.goesOn = true
    }
  }
  const attempts = () => plan.charges.find(({ periodIndex }) => periodIndex === 0)?.attempts ?? []
  return {
    look(at: Date, hasPayoutAddress: boolean) {
      take(advance(plan, at, { orderId: `order ${minted++}`, memo: 'a'.repeat(64), hasPayoutAddress }))
    },
    hear({ order, kind, units }: ModelState['action_'], asked: number, at: Date) {
      const { orderId = '' } = attempts()[order] ?? {}
      if (kind === 'paid') take(recordPaid(plan, paidData(orderId), at))
      if (kind === 'expired' || kind === 'cancelled') take(recordClosed(plan, orderId, kind, at))
      if (kind === 'refused' || kind === 'lapsed') take(recordRefused(plan, orderId, kind === 'lapsed' ? 'lapsed' : 'rate_unavailable', at))
      if (kind !== 'received') return
      const of = { merchant_id: 'm', merchant_version: 1, subscription_id: 's', order_id: orderId }
      take(recordReceived(plan, { ...of, revision: units, missing_brl_amount: reais(asked - units), order: paidData(orderId) }, at))
    },
    outcome: (): PeriodOutcome => ({
      ...{ plan: plan.pausedAt === null ? plan.status : 'paused', charged: counts.charged, dunned: counts.dunned },
      unwanted: attempts().flatMap(({ orderId }, index) => (unwanted.has(orderId) ? [index] : [])),
      goesOn: counts.goesOn,
      orders: attempts().map(({ issuedAt, endsAt, brlCentavos, status }) => [
        ...([daysTo(issuedAt), endsAt ? daysTo(endsAt) : -1, Number(brlCentavos / UNIT_CENTAVOS)] as const),
        status,
      ]),
    }),
  }
}

const daysTo = (date: Date) => (date.getTime() - day(0).getTime()) / (DAY_S * 1_000)

/** A plan of four days, whose orders live for one and are asked for again two days after the first; it ends with the first unpaid period. */
const opened = (): Subscription =>
  openPlan({
    ...{ brlCentavos: 4n * UNIT_CENTAVOS, plan: { interval: 'day', intervalCount: 4 }, orderExpiresInS: DAY_S, maxPeriods: null },
    dunning: { noticeS: 0, retryAfterS: [2 * DAY_S], unpaidPeriodsMax: 1, whenUnpaid: 'cancel' },
  })

export const paidData = (id: string) => paidOrder(id, '50.00', '9.225092')

function expectedOf({ plan, charged, dunned, unwanted, goesOn, asked, received, counted }: ModelState): PeriodOutcome {
  const statusOf = (order: number) => {
    const kinds = received.filter(report => report.order === order).map(({ kind }) => kind)
    if (kinds.includes('paid')) return order === counted ? 'paid' : 'duplicate'
    const closed = CLOSED.find(kind => kinds.includes(kind))
    if (closed === undefined) return 'open'
    return closed === 'lapsed' ? 'expired' : closed === 'refused' ? 'cancelled' : closed
  }
  return {
    ...{ plan, charged, dunned, unwanted: unwanted.toSorted((a, b) => a - b), goesOn },
    orders: asked.map(({ day: of, ends, units }, index) => [of, ends, units, statusOf(index)]),
  }
}
