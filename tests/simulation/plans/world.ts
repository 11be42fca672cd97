import type { Event, MerchantTerms } from '@ponte/contracts'
import type { orderRules } from '@ponte/orders'
import type { subscriptionRules } from '@ponte/subscriptions'
import { createRandom, type Random, weighted } from '../../torture/random'
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

const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 5, 12)
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
  const facts: { at: number; fact: Change['facts'][number]; byMerchant: boolean }[] = []
  const requests: { orderId: string; period: number; at: number; centavos: bigint; amount: bigint; receivedThen: bigint }[] = []
  const receivedOf = new Map<string, { orderId: string; revision: number; centavos: bigint }>()
  const periods = new Map<string, number>()
  const asked = new Map<string, bigint>()
  const amendments: { at: number; amendment: Amendment }[] = []
  const counts = { orders: 0, payments: 0, reorganised: 0, outages: 0, commands: 0, messages: 0, repeated: 0, races: 0 }
  let ids = 0
  let now = START
  const id = () => uuid(++ids)
  const at = () => new Date(now)
  const chainTime = () => now - 30_000
  const opened: Plan = subscriptions.open(newPlan(random, id(), at()), at())
  let plan = opened
  const { bag, delay, publish, deliver } = messages({ random, now: () => now, id, up, counts })

  /** Charges that can still change are loaded, the others by the order that is asked about. */
  const commit = (change: Change, byMerchant = false) => {
    plan = { ...change.subscription, version: plan.version + 1 }
    for (const fact of change.facts) {
      facts.push({ at: now, fact, byMerchant })
      if (fact.kind !== 'charge_requested') continue
      counts.orders += 1
      const period = fact.charge.periodIndex
      // By then orders had reported this to subscriptions, read from the messages themselves.
      const reported = [...receivedOf.values()].filter(each => periods.get(each.orderId) === period)
      const receivedThen = reported.reduce((sum, { centavos }) => sum + centavos, 0n)
      const { orderId, brlCentavos: centavos } = fact.attempt
      periods.set(orderId, period)
      asked.set(orderId, centavos)
      requests.push({ orderId, period, at: now, centavos, amount: fact.charge.brlCentavos, receivedThen })
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
        if (copy.payout_address !== null && plan.awaiting !== null) plan = { ...plan, awaiting: null }
      }
      if (event.type === 'order.paid') commit(subscriptions.recordPaid(plan, event.data.order, at()))
      if (event.type === 'order.expired') commit(subscriptions.recordClosed(plan, event.data.order.id, 'expired', at()))
      if (event.type === 'order.cancelled') commit(subscriptions.recordClosed(plan, event.data.order.id, 'cancelled', at()))
      if (event.type === 'order.received') {
        const { order_id: orderId, revision, missing_brl_amount: missing } = event.data
        const centavos = (asked.get(orderId) ?? 0n) - BigInt(missing.replace('.', ''))
        if ((receivedOf.get(orderId)?.revision ?? 0) < revision) receivedOf.set(orderId, { orderId, revision, centavos })
        commit(subscriptions.recordReceived(plan, event.data, at()))
      }
      if (event.type === 'order.refused') commit(subscriptions.recordRefused(plan, event.data.order_id, event.data.reason, at()))
    },
  }
  const schedule = () => {
    if (!up.subscriptions) return
    const due = subscriptions.wakeAt(plan, at())
    if (due === null || due.getTime() > now) return
    // Another replica read the same state: its commit finds that the version moved on, and is decided again on what is there then.
    commit(subscriptions.advance(plan, at(), mint()))
    if (random.chance(0.2)) {
      counts.races += 1
      commit(subscriptions.advance(plan, at(), mint()))
    }
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
    /** So many days of this plan. */
    play(days: number, observe: () => void) {
      const until = START + days * DAY
      while (now < until) {
        now += weighted(random, [
          [3, random.between(1, 50) * 60_000],
          [5, random.between(1, 12) * HOUR],
          [2, random.between(12, 60) * HOUR],
        ] as const)
        settle()
        if (random.chance(QUIET / 100)) {
          observe()
          continue
        }
        weighted(random, actions)()
        settle()
        observe()
      }
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
