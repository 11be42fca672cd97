import type { Event, MerchantTerms } from '@ponte/contracts'
import type { orderRules } from '@ponte/orders'
import { createRandom, type Random, weighted } from '@ponte/service-kit/testing'
import type { subscriptionRules } from '@ponte/subscriptions'
import { instant, ZONES } from './calendar'
import { ADDRESSES, type Amendment, merchant, newPlan } from './merchant'
import { messages } from './messages'
import { ordersInMemory } from './orders-in-memory'
import { HOUR, payers } from './payers'

export { HOUR }

type Plan = ReturnType<typeof subscriptionRules.open>
type Change = ReturnType<typeof subscriptionRules.advance>
export interface Rules {
  subscriptions: typeof subscriptionRules
  orders: typeof orderRules
}

interface Moment {
  at: number
  byMerchant: boolean
  /** After so many amendments of the merchant. */
  amended: number
}

const DAY = 24 * HOUR
/** Plans begin on any day of it. */
const YEAR = Date.UTC(2026, 0, 1)
/** A late payment, an outage and a late report one after the other. */
const AFTERMATH_MS = 14 * DAY
const STEPS: readonly (readonly [number, (random: Random) => number])[] = [
  [2, random => random.between(1, 50) * 60_000],
  [4, random => random.between(1, 12) * HOUR],
  [4, random => random.between(12, 60) * HOUR],
]
/** Of every hundred steps so many pass without anything but time. */
const QUIET = 76
const uuid = (n: number) => `01981f3c-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

/** One plan, its merchant, its payer, both services and what travels between them. The same seed plays the same story. */
export function createWorld(seed: number, rules: Rules) {
  const random: Random = createRandom(seed)
  const orders = ordersInMemory(rules.orders)
  const { subscriptions } = rules
  const up = { orders: true, subscriptions: true, calm: false }
  const intents: { at: number; act(): void }[] = []
  const facts: ({ fact: Change['facts'][number] } & Moment)[] = []
  const requests: ({ orderId: string; period: number; centavos: bigint; amount: bigint; receivedThen: bigint } & Moment)[] = []
  const receivedOf = new Map<string, { orderId: string; revision: number; centavos: bigint }>()
  const periods = new Map<string, number>()
  const asked = new Map<string, bigint>()
  const amendments: { at: number; amendment: Amendment }[] = []
  const counts = { orders: 0, payments: 0, reorganised: 0, outages: 0, commands: 0, messages: 0, repeated: 0, races: 0 }
  let ids = 0
  const timezone = random.pick(ZONES)
  // At any minute, and half of them in the two hours in which all these zones change their clocks.
  const minute = random.chance(0.5) ? random.between(60, 180) : random.between(0, 24 * 60)
  const start = instant(timezone, YEAR + random.between(0, 365) * DAY + minute * 60_000)
  let now = start
  const id = () => uuid(++ids)
  const at = () => new Date(now)
  const chainTime = () => now - 30_000
  const opened: Plan = subscriptions.open(newPlan(random, id(), at(), timezone), at())
  let plan = opened
  let wakeAt = subscriptions.wakeAt(opened, at())
  const { bag, delay, publish, deliver } = messages({ random, now: () => now, id, up, counts })

  /** As subscriptions loads it: with the charges that can still change, and all from one period on. */
  const load = (from = Number.POSITIVE_INFINITY): Plan => ({
    ...plan,
    charges: plan.charges.filter(each => canChange(each) || each.periodIndex >= from),
  })
  const loadByOrder = (orderId: string) => load(periods.get(orderId))
  const commit = (change: Change, byMerchant = false) => {
    if (change.subscription !== change.from) {
      const changed = new Set(change.subscription.charges.map(({ periodIndex }) => periodIndex))
      const charges = [...plan.charges.filter(({ periodIndex }) => !changed.has(periodIndex)), ...change.subscription.charges]
      plan = { ...change.subscription, charges: charges.sort((a, b) => a.periodIndex - b.periodIndex), version: plan.version + 1 }
      wakeAt = subscriptions.wakeAt(change.subscription, at())
    }
    const moment = { at: now, byMerchant, amended: amendments.length }
    for (const fact of change.facts) {
      facts.push({ fact, ...moment })
      if (fact.kind !== 'charge_requested') continue
      counts.orders += 1
      const period = fact.charge.periodIndex
      // By then orders had reported this to subscriptions, read from the messages themselves.
      const reported = [...receivedOf.values()].filter(each => periods.get(each.orderId) === period)
      const receivedThen = reported.reduce((sum, { centavos }) => sum + centavos, 0n)
      const { orderId, brlCentavos: centavos } = fact.attempt
      periods.set(orderId, period)
      asked.set(orderId, centavos)
      requests.push({ orderId, period, centavos, amount: fact.charge.brlCentavos, receivedThen, ...moment })
    }
    publish(subscriptions.toEvents(change, copy))
  }
  const isAway = { orders: up, subscriptions: up, rate: orders.canPrice } as const
  const {
    actions,
    setAddress,
    terms: merchantTerms,
  } = merchant({
    random,
    rules: subscriptions,
    now: () => now,
    plan: () => plan,
    load,
    mint: () => mint(),
    publish,
    amended: amendment => void amendments.push({ at: now, amendment }),
    command(work) {
      if (!up.subscriptions) return false
      counts.commands += 1
      try {
        const change = work()
        if (change) commit(change, true)
        return true
      } catch (error) {
        if (!(error instanceof Error && error.name === 'ApiError')) throw error
        return false
      }
    },
    outage(which) {
      counts.outages += 1
      const flag = which === 'rate' ? 'now' : which
      Object.assign(isAway[which], { [flag]: false })
      intents.push({ at: now + random.between(1, 80) * HOUR, act: () => Object.assign(isAway[which], { [flag]: true }) })
    },
  })
  /** The merchant's terms as subscriptions knows them. */
  let copy: MerchantTerms = merchantTerms()
  const mint = () => ({ orderId: id(), memo: (++ids).toString(16).padStart(64, '0'), hasPayoutAddress: copy.payout_address !== null })

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
      if (event.type === 'subscription.charged') publish(orders.counted(event.data, at(), chainTime()))
      if (event.type === 'subscription.cancelled' || event.type === 'subscription.expired')
        publish(orders.ended(event.data, at(), chainTime()))
    },
    subscriptions(event: Event): void {
      if (event.type === 'merchant.updated') {
        if (event.data.version > copy.version) copy = event.data
        if (copy.payout_address !== null && plan.awaiting !== null) {
          plan = { ...plan, awaiting: null }
          wakeAt = at()
        }
      }
      if (event.type === 'order.paid') commit(subscriptions.recordPaid(loadByOrder(event.data.order.id), event.data.order, at()))
      if (event.type === 'order.expired')
        commit(subscriptions.recordClosed(loadByOrder(event.data.order.id), event.data.order.id, 'expired', at()))
      if (event.type === 'order.cancelled')
        commit(subscriptions.recordClosed(loadByOrder(event.data.order.id), event.data.order.id, 'cancelled', at()))
      if (event.type === 'order.received') {
        const { order_id: orderId, revision, missing_brl_amount: missing } = event.data
        const centavos = (asked.get(orderId) ?? 0n) - BigInt(missing.replace('.', ''))
        if ((receivedOf.get(orderId)?.revision ?? 0) < revision) receivedOf.set(orderId, { orderId, revision, centavos })
        commit(subscriptions.recordReceived(loadByOrder(orderId), event.data, at()))
      }
      if (event.type === 'order.refused')
        commit(subscriptions.recordRefused(loadByOrder(event.data.order_id), event.data.order_id, event.data.reason, at()))
    },
  }
  const schedule = () => {
    if (!up.subscriptions) return
    if (wakeAt === null || wakeAt.getTime() > now) return
    advance()
    // Another replica read the same state: its commit finds that the version moved on, and is decided again on what is there then.
    if (random.chance(0.2)) {
      counts.races += 1
      advance()
    }
  }
  const advance = () => {
    const change = subscriptions.advance(load(), at(), mint())
    commit({ ...change, subscription: { ...change.subscription } })
  }

  /** Everything that has something to do at this moment does it, until nothing has. */
  const settle = () => {
    for (let round = 0; round < 50; round += 1) {
      const [inFlight, minted, { version }] = [bag.length, ids, plan]
      const due = intents.filter(intent => intent.at <= now).sort((a, b) => a.at - b.at)
      for (const intent of due) {
        intents.splice(intents.indexOf(intent), 1)
        intent.act()
      }
      deliver(handlers)
      if (up.orders) {
        publish(orders.sweep(at()))
        meetPayers()
        publish(orders.expire(at(), chainTime()))
      }
      schedule()
      if (bag.length === inFlight && ids === minted && plan.version === version) return
    }
  }

  /** Payers act at their own time, and the scheduler at its own. */
  const passTo = (time: number) => {
    for (let next = now; next < time; ) {
      const wake = up.subscriptions && wakeAt !== null && wakeAt.getTime() > now ? wakeAt.getTime() : time
      next = Math.min(time, wake, ...intents.map(({ at }) => at))
      now = Math.max(now, next)
      settle()
    }
  }

  return {
    opened,
    orders,
    facts,
    requests,
    amendments,
    counts,
    periodOf: (orderId: string) => periods.get(orderId),
    now: () => now,
    plan: () => plan,
    /** True when everything that was published for orders has come. */
    ordersKnowsAll: () => up.orders && bag.every(({ to }) => to !== 'orders'),
    /** Up to a year of a plan, or until nothing of its end is on its way any more. Answers for how many days it lived. */
    play(observe: () => void): number {
      const until = start + random.between(14, 366) * DAY
      let endedAt: number | null = null
      while (now < (endedAt === null ? until : endedAt + AFTERMATH_MS)) {
        passTo(now + weighted(random, STEPS)(random))
        if (!random.chance(QUIET / 100)) {
          weighted(random, actions)()
          settle()
        }
        observe()
        if (endedAt === null && plan.status !== 'active' && plan.status !== 'past_due') endedAt = now
      }
      return ((endedAt ?? now) - start) / DAY
    },
    /** All faults end, everything on its way arrives, the chain is confirmed past every order's end. */
    calm() {
      up.calm = true
      up.orders = up.subscriptions = orders.canPrice.now = true
      if (merchantTerms().payout_address === null) setAddress(ADDRESSES[0] ?? null)
      for (let round = 0; round < 4; round += 1) {
        for (const message of bag) message.at = now
        now += 60_000
        settle()
      }
    },
  }
}

const canChange = ({ status, attempts }: Plan['charges'][number]) =>
  status === 'open' || attempts.some(attempt => attempt.status === 'open')

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
