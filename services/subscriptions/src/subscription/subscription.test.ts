import { ApiError } from '@ponte/contracts'
import fc from 'fast-check'
import { openPlan, paidOrder } from '../../test/plan'
import { amend } from './amendment'
import { advance, charge, wakeAt } from './charges'
import { cancel } from './end'
import { recordClosed, recordPaid } from './order-outcome'
import { type Change, type Charge, type Fact, isLive, type Subscription } from './subscription'

/**
 * Any story of a subscription: the scheduler, the merchant and the chain act in any order, and events of orders arrive late, twice and
 * shuffled. `now` only goes forward.
 */
type Step =
  | { do: 'wait'; hours: number }
  | { do: 'schedule' | 'charge' | 'cancel' }
  | { do: 'pay' | 'expire' | 'cancelOrder'; which: number }
  | { do: 'deliver'; which: number; again: boolean }
  | { do: 'amend'; brlCentavos: bigint; maxPeriods: number; appliesNow: boolean; cancelAtPeriodEnd: boolean; paused: boolean }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('schedule' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('charge' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('pay' as const, 'expire' as const, 'cancelOrder' as const), which: fc.nat(100) }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('deliver' as const), which: fc.nat(100), again: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('amend' as const),
      brlCentavos: fc.bigInt(1n, 9999n),
      maxPeriods: fc.integer({ min: 1, max: 6 }),
      appliesNow: fc.boolean(),
      cancelAtPeriodEnd: fc.boolean(),
      paused: fc.boolean(),
    }),
  },
)

const RUNS = Number(process.env.PONTE_TEST_STORIES ?? 250)

interface Outcome {
  orderId: string
  outcome: 'paid' | 'expired' | 'cancelled'
}

/** One subscription, its orders as the chain knows them, and the events that are published but not yet delivered. */
function story(first: Subscription) {
  let state = first
  let now = first.createdAt
  let minted = 0
  const facts: Fact[] = []
  const everyCharge = new Map<number, Charge>()
  const orders = new Map<string, Outcome['outcome'] | 'open'>()
  const undelivered: Outcome[] = []
  const mint = () => ({ orderId: `o${++minted}`, memo: `${minted}`, hasPayoutAddress: true })

  const take = (change: Change | null) => {
    if (!change) return
    for (const fact of change.facts) {
      if (fact.kind !== 'charge_requested') continue
      expect(isLive(state)).toBe(true)
      expect(fact.charge.periodIndex).toBe(change.subscription.periodIndex)
      expect(orders.has(fact.attempt.orderId)).toBe(false)
      orders.set(fact.attempt.orderId, 'open')
    }
    facts.push(...change.facts)
    state = change.subscription
    for (const charge of state.charges) everyCharge.set(charge.periodIndex, charge)
  }
  const settle = (which: number, outcome: Outcome['outcome']) => {
    const ids = [...orders.keys()]
    const id = ids[which % Math.max(ids.length, 1)]
    // An order that expired can still turn out to have been paid in time.
    const may = id !== undefined && (orders.get(id) === 'open' || (outcome === 'paid' && orders.get(id) === 'expired'))
    if (!may) return
    orders.set(id, outcome)
    undelivered.push({ orderId: id, outcome })
  }
  const handle = ({ orderId, outcome }: Outcome) =>
    take(outcome === 'paid' ? recordPaid(state, paidOrder(orderId), now) : recordClosed(state, orderId, outcome, now))
  const act = (step: Step) => {
    if (step.do === 'wait') now = new Date(now.getTime() + step.hours * 3_600_000)
    if (step.do === 'schedule') take(advance(state, now, mint()))
    if (step.do === 'charge') take(charge(state, now, mint()))
    if (step.do === 'cancel') take(cancel(state, now))
    if (step.do === 'pay') settle(step.which, 'paid')
    if (step.do === 'expire') settle(step.which, 'expired')
    if (step.do === 'cancelOrder') settle(step.which, 'cancelled')
    if (step.do === 'amend') {
      const { do: _, ...amendment } = step
      const { cancelAtPeriodEnd, ...rest } = amendment
      take(amend(state, state.schedule ? { ...rest, cancelAtPeriodEnd } : rest, now, mint()))
    }
    if (step.do === 'deliver' && undelivered.length > 0) {
      const outcome = undelivered[step.which % undelivered.length]
      if (!outcome) return
      handle(outcome)
      if (!step.again) undelivered.splice(step.which % undelivered.length, 1)
    }
  }
  return {
    act(step: Step) {
      try {
        act(step)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
      }
    },
    deliverAll: () => undelivered.splice(0).forEach(handle),
    facts,
    orders,
    charges: () => [...everyCharge.values()],
    state: () => state,
    now: () => now,
  }
}

const anySubscription = fc
  .record({
    plan: fc.option(
      fc.record({
        interval: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
        intervalCount: fc.integer({ min: 1, max: 3 }),
      }),
    ),
    maxPeriods: fc.option(fc.integer({ min: 1, max: 5 })),
    expiresInDays: fc.option(fc.integer({ min: 1, max: 90 })),
    orderExpiresInS: fc.integer({ min: 10, max: 7 * 86_400 }),
    whenUnpaid: fc.constantFrom('leave' as const, 'pause' as const, 'cancel' as const),
    trialPeriods: fc.integer({ min: 0, max: 2 }),
    maxPeriodsCounts: fc.constantFrom('payments' as const, 'periods' as const),
    noticeS: fc.constantFrom(0, 86_400, 259_200),
  })
  .map(({ plan, expiresInDays, whenUnpaid, noticeS, ...terms }) => {
    const startAt = new Date('2026-01-31T23:30:00.000Z')
    const expiresAt = expiresInDays === null ? null : new Date(startAt.getTime() + expiresInDays * 86_400_000)
    const dunning = { noticeS, retryAfterS: [86_400, 259_200], unpaidPeriodsMax: 2, whenUnpaid }
    const trial = plan === null ? { trialPeriods: 0, maxPeriodsCounts: 'payments' as const } : {}
    return openPlan({ timezone: 'America/Sao_Paulo', dunning, ...terms, ...trial, plan, expiresAt, startAt })
  })

const countOf = (facts: readonly Fact[], kind: Fact['kind']) => facts.filter(fact => fact.kind === kind).length

describe('whatever happens to a subscription, in whatever order events arrive', () => {
  it('counts each period once, ends once, and publishes exactly what it did', () => {
    fc.assert(
      fc.property(anySubscription, fc.array(step, { minLength: 10, maxLength: 120 }), (first, steps) => {
        const { act, deliverAll, facts, orders, charges, state } = story(first)
        for (const one of steps) act(one)
        deliverAll()

        const paid = charges().filter(({ status }) => status === 'paid')
        expect(state().chargesDone).toBe(paid.length)
        expect(countOf(facts, 'charged')).toBe(paid.length)
        expect(countOf(facts, 'cancelled') + countOf(facts, 'expired')).toBe(isLive(state()) ? 0 : 1)
        for (const { attempts, status } of charges()) {
          const payable = attempts.some(attempt => attempt.status === 'open')
          if (!isLive(state()) && status === 'open') expect(payable).toBe(true)
          expect(attempts.filter(({ status }) => status === 'open').length).toBeLessThanOrEqual(1)
          expect(attempts.filter(({ status }) => status === 'paid').length).toBeLessThanOrEqual(1)
        }
        // Every duplicate was called off before, when its period was paid.
        const calledOff = new Set(facts.flatMap(fact => (fact.kind === 'superseded' ? [fact.orderId] : [])))
        for (const fact of facts) if (fact.kind === 'duplicate') expect(calledOff.has(fact.orderId)).toBe(true)
        // Every payment that the chain knows is either counted or named a duplicate: none is lost.
        const settled = [...orders.values()].filter(outcome => outcome === 'paid').length
        expect(countOf(facts, 'charged') + countOf(facts, 'duplicate')).toBe(settled)
      }),
      { numRuns: RUNS },
    )
  })

  it('has nothing left to do at once after the scheduler has looked: no busy loop', () => {
    fc.assert(
      fc.property(anySubscription, fc.array(step, { maxLength: 60 }), (first, steps) => {
        const { act, state, now } = story(first)
        for (const one of steps) act(one)
        act({ do: 'schedule' })
        const next = wakeAt(state(), now())
        expect(next === null || next > now()).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  it('ends by max_periods with the charge that reaches it', () => {
    fc.assert(
      fc.property(anySubscription, fc.array(step, { maxLength: 100 }), (first, steps) => {
        const { act, facts, state } = story(first)
        for (const one of steps) {
          act(one)
          const { maxPeriods, chargesDone } = state()
          if (maxPeriods !== null && chargesDone >= maxPeriods) expect(isLive(state())).toBe(false)
        }
        const end = facts.findIndex(fact => fact.kind === 'expired')
        expect(facts.slice(end + 1).some(fact => end >= 0 && fact.kind === 'charge_requested')).toBe(false)
      }),
      { numRuns: RUNS },
    )
  })
})
