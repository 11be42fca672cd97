import type { Event, MerchantTerms, NewEvent } from '@ponte/contracts'
import type { orderRules } from '@ponte/orders'
import type { subscriptionRules } from '@ponte/subscriptions'
import { createRandom, type Random, weighted } from '../../torture/random'
import { ordersInMemory } from './orders-in-memory'
import { HOUR, payers } from './payers'

export { HOUR }

type Plan = ReturnType<typeof subscriptionRules.open>
type Change = ReturnType<typeof subscriptionRules.advance>
export interface Rules {
  subscriptions: typeof subscriptionRules
  orders: typeof orderRules
}

const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 5, 12)
const MERCHANT = '01981f3c-0000-7000-8000-000000000001'
const ADDRESSES = ['0xa1', '0xa2', '0xa3']
const uuid = (n: number) => `01981f3c-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

interface InFlight {
  to: 'orders' | 'subscriptions'
  event: Event
  at: number
}

/** One plan, its merchant, its payer, both services and what travels between them. The same seed plays the same story. */
export function createWorld(seed: number, rules: Rules) {
  const random: Random = createRandom(seed)
  const orders = ordersInMemory(rules.orders)
  const { subscriptions } = rules
  const bag: InFlight[] = []
  const seen = { orders: new Set<string>(), subscriptions: new Set<string>() }
  const up = { orders: true, subscriptions: true, calm: false }
  const intents: { at: number; act(): void }[] = []
  const facts: { at: number; fact: Change['facts'][number] }[] = []
  const requests: { orderId: string; period: number; at: number; centavos: bigint; amount: bigint; receivedThen: bigint }[] = []
  const receivedOf = new Map<string, { orderId: string; revision: number; centavos: bigint }>()
  const periods = new Map<string, number>()
  const asked = new Map<string, bigint>()
  const changes: { at: number; maxPeriods: number | null; expiresAt: number | null }[] = []
  const counts = { orders: 0, payments: 0, reorganised: 0, outages: 0, commands: 0, messages: 0, repeated: 0, races: 0 }
  let ids = 0
  let now = START
  let merchant: MerchantTerms = { merchant_id: MERCHANT, version: 1, display_name: 'Padaria', payout_address: ADDRESSES[0] ?? null }
  let copy = merchant
  const id = () => uuid(++ids)
  const mint = () => ({ orderId: id(), memo: (++ids).toString(16).padStart(64, '0'), hasPayoutAddress: copy.payout_address !== null })
  const at = () => new Date(now)
  const chainTime = () => now - 30_000

  const step = random.pick([1, 1, 7, 7, 30])
  let plan: Plan = subscriptions.open(
    {
      id: id(),
      merchantId: MERCHANT,
      externalRef: null,
      description: null,
      metadata: {},
      brlCentavos: BigInt(random.between(100, 100_000)),
      plan: step === 30 ? { interval: 'day', intervalCount: 30 } : { interval: step === 7 ? 'week' : 'day', intervalCount: 1 },
      timezone: 'UTC',
      startAt: at(),
      orderExpiresInS: random.pick([600, 3_600, 86_400, 3 * 86_400]),
      maxPeriods: random.chance(0.3) ? random.between(2, 30) : null,
      expiresAt: random.chance(0.2) ? new Date(START + random.between(20, 300) * DAY) : null,
      dunning: {
        retryAfterS: random.pick([[], [86_400], [86_400, 259_200, 604_800]]),
        unpaidPeriodsMax: random.between(2, 6),
        whenUnpaid: random.pick(['leave', 'leave', 'pause', 'cancel']),
      },
    },
    at(),
  )
  const opened = plan
  changes.push({ at: now, maxPeriods: plan.maxPeriods, expiresAt: plan.expiresAt?.getTime() ?? null })

  const READERS: Partial<Record<Event['type'], InFlight['to'][]>> = {
    'merchant.updated': ['orders', 'subscriptions'],
    'subscription.charge_requested': ['orders'],
    'subscription.order_superseded': ['orders'],
    'subscription.cancelled': ['orders'],
    'subscription.expired': ['orders'],
    'order.paid': ['subscriptions'],
    'order.expired': ['subscriptions'],
    'order.cancelled': ['subscriptions'],
    'order.received': ['subscriptions'],
    'order.refused': ['subscriptions'],
    'order.waiting': ['subscriptions'],
  }
  const delay = () =>
    up.calm
      ? 0
      : weighted(random, [
          [6, 0],
          [2, random.between(1, 90) * 60_000],
          [1, random.between(1, 30) * HOUR],
        ] as const)
  const publish = (events: readonly NewEvent[]) => {
    for (const published of events) {
      const event: Event = { ...published, id: id(), occurred_at: at().toISOString(), trace: null }
      for (const to of READERS[event.type] ?? []) {
        counts.messages += 1
        bag.push({ to, event, at: now + delay() })
        if (!random.chance(0.1)) continue
        counts.repeated += 1
        bag.push({ to, event, at: now + delay() })
      }
    }
  }
  /** What the store keeps: charges that can still change are loaded, the others by the order that is asked about. */
  const commit = (change: Change) => {
    plan = { ...change.subscription, version: plan.version + 1 }
    for (const fact of change.facts) {
      facts.push({ at: now, fact })
      if (fact.kind !== 'charge_requested') continue
      counts.orders += 1
      const period = fact.charge.periodIndex
      // What orders had reported to subscriptions by now, read from the messages themselves.
      const reported = [...receivedOf.values()].filter(each => periods.get(each.orderId) === period)
      const receivedThen = reported.reduce((sum, { centavos }) => sum + centavos, 0n)
      const { orderId, brlCentavos: centavos } = fact.attempt
      periods.set(orderId, period)
      asked.set(orderId, centavos)
      requests.push({ orderId, period, at: now, centavos, amount: fact.charge.brlCentavos, receivedThen })
    }
    publish(subscriptions.toEvents(change, copy))
  }
  const command = (work: () => Change | null) => {
    if (!up.subscriptions) return
    counts.commands += 1
    try {
      const change = work()
      if (change) commit(change)
    } catch (error) {
      // A refusal answers the merchant and changes nothing.
      if (!(error instanceof Error && error.name === 'ApiError')) throw error
    }
  }

  const meetPayers = payers({
    random,
    orders,
    now: () => now,
    later: (after, act) => intents.push({ at: now + after, act }),
    report: (orderId, payment) => publish(orders.reported(orderId, payment, at(), chainTime())),
    paid: isGone => {
      counts.payments += 1
      if (isGone) counts.reorganised += 1
    },
    seen(orderId) {
      const opened = () => {
        plan = withoutReason(plan, orderId)
      }
      intents.push({ at: now + delay(), act: opened })
    },
  })

  const handlers = {
    orders(event: Event): void {
      if (event.type === 'merchant.updated') orders.merchantUpdated(event.data)
      if (event.type === 'subscription.charge_requested') publish(orders.requested(event, at()))
      if (event.type === 'subscription.order_superseded') publish(orders.superseded(event.data, at(), chainTime()))
      if (event.type === 'subscription.cancelled' || event.type === 'subscription.expired')
        publish(orders.ended(event.data, at(), chainTime()))
    },
    subscriptions(event: Event): void {
      if (event.type === 'merchant.updated') {
        if (event.data.version > copy.version) copy = event.data
        if (copy.payout_address !== null && plan.awaiting !== null) plan = { ...plan, awaiting: null }
      }
      if (event.type === 'order.paid') commit(subscriptions.recordPaid(plan, event.data.order, at()))
      if (event.type === 'order.expired') commit(subscriptions.recordClosed(plan, event.data.order.id, 'expired', at()))
      if (event.type === 'order.cancelled') commit(subscriptions.recordClosed(plan, event.data.order.id, 'cancelled', at()))
      if (event.type === 'order.received') {
        const { order_id: orderId, revision, missing_brl_amount: missing } = event.data
        const centavos = (asked.get(orderId) ?? 0n) - BigInt(missing.replace('.', ''))
        if ((receivedOf.get(orderId)?.revision ?? 0) < revision) receivedOf.set(orderId, { orderId, revision, centavos })
        commit(subscriptions.recordReceived(plan, event.data))
      }
      if (event.type === 'order.refused') commit(subscriptions.recordRefused(plan, event.data.order_id, event.data.reason, at()))
    },
  }
  const deliver = () => {
    for (;;) {
      const due = bag.filter(message => message.at <= now && up[message.to])
      if (due.length === 0) return
      const message = random.pick(due)
      bag.splice(bag.indexOf(message), 1)
      if (seen[message.to].has(message.event.id)) continue
      handlers[message.to](message.event)
      seen[message.to].add(message.event.id)
    }
  }
  const schedule = () => {
    if (!up.subscriptions) return
    const due = subscriptions.wakeAt(plan, at())
    if (due === null || due.getTime() > now) return
    const change = subscriptions.advance(plan, at(), mint())
    // Another replica read the same state: its commit finds that the version moved on, and is decided again on what is there then.
    commit(change)
    if (random.chance(0.2)) {
      counts.races += 1
      commit(subscriptions.advance(plan, at(), mint()))
    }
  }

  /** Everything that has something to do at this moment does it, until nothing has. */
  const settle = () => {
    for (let round = 0; round < 50; round += 1) {
      const before = `${bag.length} ${ids} ${plan.version}`
      const due = intents.filter(intent => intent.at <= now).sort((a, b) => a.at - b.at)
      for (const intent of due) {
        intents.splice(intents.indexOf(intent), 1)
        intent.act()
      }
      deliver()
      if (up.orders) {
        publish(orders.sweep(at()))
        meetPayers()
        publish(orders.expire(at(), chainTime()))
      }
      schedule()
      if (before === `${bag.length} ${ids} ${plan.version}`) return
    }
  }
  const setAddress = (address: string | null) => {
    merchant = { ...merchant, version: merchant.version + 1, payout_address: address }
    publish([
      {
        type: 'merchant.updated',
        data: {
          ...merchant,
          webhook_url: null,
          sealed_webhook_secret: 'x',
          sealed_pending_webhook_secret: null,
          pending_webhook_secret_activates_at: null,
        },
      },
    ])
  }
  const recordTerms = () => changes.push({ at: now, maxPeriods: plan.maxPeriods, expiresAt: plan.expiresAt?.getTime() ?? null })
  const amend = (amendment: Parameters<typeof subscriptions.amend>[1]) => {
    command(() => subscriptions.amend(plan, amendment, at(), mint()))
    recordTerms()
  }
  const accept = () => {
    const late = plan.charges.find(
      ({ status, attempts }) => status !== 'paid' && attempts.some(({ receivedCentavos }) => receivedCentavos > 0n),
    )
    if (late) command(() => subscriptions.accept(plan, late.periodIndex, at()))
  }
  const outage = (which: 'orders' | 'subscriptions') => {
    counts.outages += 1
    up[which] = false
    intents.push({ at: now + random.between(1, 80) * HOUR, act: () => Object.assign(up, { [which]: true }) })
  }
  const actions: (readonly [number, () => void])[] = [
    [60, () => undefined],
    [4, () => command(() => subscriptions.charge(plan, at(), mint()))],
    [0.25, () => command(() => subscriptions.cancel(plan, at()))],
    [1, () => amend({ brlCentavos: BigInt(random.between(100, 100_000)), description: `changed ${now}` })],
    [0.5, () => amend({ maxPeriods: random.chance(0.3) ? null : plan.chargesDone + random.between(0, 20) })],
    [0.5, () => amend({ expiresAt: random.chance(0.4) ? null : new Date(now + random.between(1, 200) * DAY) })],
    [1, () => setAddress(null)],
    [3, () => setAddress(random.pick(ADDRESSES))],
    [2, accept],
    [2, () => outage('orders')],
    [1, () => outage('subscriptions')],
    [
      1,
      () => {
        orders.canPrice.now = false
        intents.push({ at: now + random.between(1, 60) * HOUR, act: () => Object.assign(orders.canPrice, { now: true }) })
      },
    ],
  ]

  return {
    opened,
    orders,
    facts,
    requests,
    changes,
    counts,
    up,
    now: () => now,
    plan: () => plan,
    /** True when everything that was reported to orders has come. */
    hasHeardAll: () => up.orders && bag.every(({ to }) => to !== 'orders'),
    /** A year of this plan, or until it has ended and nothing is on its way. */
    play(days: number, observe: () => void) {
      const until = START + days * DAY
      while (now < until) {
        now += weighted(random, [
          [3, random.between(1, 50) * 60_000],
          [5, random.between(1, 12) * HOUR],
          [2, random.between(12, 60) * HOUR],
        ] as const)
        settle()
        weighted(random, actions)()
        settle()
        observe()
      }
    },
    /** All faults end, everything on its way arrives, the chain is confirmed past every order's end. */
    calm() {
      up.calm = true
      up.orders = up.subscriptions = orders.canPrice.now = true
      if (merchant.payout_address === null) setAddress(ADDRESSES[0] ?? null)
      for (let round = 0; round < 4; round += 1) {
        for (const message of bag) message.at = now
        now += 60_000
        settle()
      }
    },
  }
}

/** The order is there: what its attempt waited for is over. */
const withoutReason = (plan: Plan, orderId: string): Plan => ({
  ...plan,
  charges: plan.charges.map(charge => ({
    ...charge,
    attempts: charge.attempts.map(attempt =>
      attempt.orderId === orderId && attempt.status === 'open' ? { ...attempt, reason: null } : attempt,
    ),
  })),
})
