import type { MerchantTerms, NewEvent } from '@ponte/contracts'
import type { Random } from '@ponte/service-kit/testing'
import type { subscriptionRules } from '@ponte/subscriptions'
import { ZONES } from './calendar'
import { HOUR } from './payers'

type Rules = typeof subscriptionRules
type Plan = ReturnType<Rules['open']>
type Change = ReturnType<Rules['advance']>
export type Amendment = Parameters<Rules['amend']>[1]

const DAY = 24 * HOUR
const MERCHANT = '01981f3c-0000-7000-8000-000000000001'
export const ADDRESSES = ['0xa1', '0xa2', '0xa3']

export interface MerchantDeps {
  random: Random
  rules: Rules
  now(): number
  /** With every charge. */
  plan(): Plan
  /** As a command finds it. */
  load(fromPeriod?: number): Plan
  mint(): Parameters<Rules['advance']>[2]
  /** Runs a command of the merchant; answers false, with nothing changed, when it was refused. */
  command(work: () => Change | null): boolean
  publish(events: readonly NewEvent[]): void
  /** Takes a service away for a while. */
  outage(which: 'orders' | 'subscriptions' | 'rate'): void
  /** Called when the plan was changed as the merchant wished. */
  amended(amendment: Amendment): void
}

const PLANS = [
  { interval: 'day', intervalCount: 1 },
  { interval: 'day', intervalCount: 1 },
  { interval: 'week', intervalCount: 1 },
  { interval: 'week', intervalCount: 1 },
  { interval: 'day', intervalCount: 30 },
  { interval: 'month', intervalCount: 1 },
] as const

const newDunning = (random: Random): Plan['dunning'] => ({
  noticeS: random.pick([0, 86_400, 3 * 86_400]),
  retryAfterS: random.pick([[], [86_400], [86_400, 259_200, 604_800]]),
  unpaidPeriodsMax: random.pick([1, 1, 2, 3, 5]),
  whenUnpaid: random.pick(['leave', 'pause', 'cancel', 'cancel']),
})

export function newPlan(random: Random, id: string, startAt: Date, timezone: string): Parameters<Rules['open']>[0] {
  const isDriven = random.chance(0.1)
  return {
    id,
    merchantId: MERCHANT,
    payerToken: null,
    externalRef: null,
    description: null,
    metadata: {},
    brlCentavos: BigInt(random.between(100, 100_000)),
    plan: isDriven ? null : random.pick(PLANS),
    timezone,
    startAt,
    orderExpiresInS: random.pick([600, 3_600, 86_400, 3 * 86_400]),
    maxPeriods: random.chance(0.3) ? random.between(2, 30) : null,
    maxPeriodsCounts: isDriven ? 'payments' : random.pick(['payments', 'payments', 'periods']),
    trialPeriods: !isDriven && random.chance(0.2) ? random.between(1, 4) : 0,
    expiresAt: random.chance(0.2) ? new Date(startAt.getTime() + random.between(20, 300) * DAY) : null,
    dunning: newDunning(random),
  }
}

/** The merchant of a plan, who may do anything at any moment. */
export function merchant({ random, rules, now, plan, load, mint, command, publish, outage, amended }: MerchantDeps) {
  let terms: MerchantTerms = { merchant_id: MERCHANT, version: 1, display_name: 'Padaria', payout_address: ADDRESSES[0] ?? null }
  const at = () => new Date(now())
  const setAddress = (address: string | null) => {
    terms = { ...terms, version: terms.version + 1, payout_address: address }
    const sealed = { sealed_webhook_secret: 'x', sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null }
    publish([{ type: 'merchant.updated', data: { ...terms, webhook_url: null, ...sealed } }])
  }
  const amend = (amendment: Amendment) => {
    if (command(() => rules.amend(load(), amendment, at(), mint()))) amended(amendment)
  }
  const accept = () => {
    const late = plan().charges.find(
      ({ status, attempts }) => status !== 'paid' && attempts.some(({ receivedCentavos }) => receivedCentavos > 0n),
    )
    if (late) command(() => rules.accept(load(late.periodIndex), late.periodIndex, null, at()))
  }
  const price = () => ({ brlCentavos: BigInt(random.between(100, 100_000)), description: `changed ${now()}` })
  const actions: (readonly [number, () => void])[] = [
    [4, () => command(() => rules.charge(load(), at(), mint()))],
    [0.25, () => command(() => rules.cancel(load(), at()))],
    [1, () => amend(price())],
    [1, () => amend({ ...price(), appliesNow: true })],
    [0.5, () => amend({ maxPeriods: random.chance(0.3) ? null : plan().chargesDone + random.between(0, 20) })],
    [0.5, () => amend({ expiresAt: random.chance(0.4) ? null : new Date(now() + random.between(1, 200) * DAY) })],
    [0.2, () => amend({ cancelAtPeriodEnd: random.chance(0.6) })],
    [0.6, () => amend({ paused: random.chance(0.4) })],
    [0.3, () => amend({ timezone: random.pick(ZONES) })],
    [0.3, () => amend({ interval: random.pick(['day', 'week', 'month']), intervalCount: random.between(1, 4) })],
    [0.5, () => amend({ dunning: newDunning(random) })],
    [1, () => setAddress(null)],
    [3, () => setAddress(random.pick(ADDRESSES))],
    [2, accept],
    [2, () => outage('orders')],
    [1, () => outage('subscriptions')],
    [1, () => outage('rate')],
  ]
  return { actions, setAddress, terms: () => terms }
}
