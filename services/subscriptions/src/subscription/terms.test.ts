import { ApiError } from '@ponte/contracts'
import { openPlan } from '../../test/plan'
import { type Amendment, amend } from './amendment'
import { advance, charge, nextChargeAt, wakeAt } from './charges'
import { trialEnd } from './end'
import { recordClosed, recordRefused } from './order-outcome'
import type { Change, Fact, NewSubscription, Subscription } from './subscription'

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)
const day = (n: number) => new Date(START + n * DAY)
let minted = 0
const mint = () => ({ orderId: `order-${++minted}`, memo: 'a'.repeat(64), hasPayoutAddress: true })
const create = (input: Partial<NewSubscription> = {}, noticeS = 0) =>
  openPlan(
    {
      ...{ plan: { interval: 'day', intervalCount: 10 }, startAt: day(0) },
      dunning: { noticeS, retryAfterS: [86_400], unpaidPeriodsMax: 3, whenUnpaid: 'leave' },
      ...input,
    },
    day(0),
  )
const kinds = ({ facts }: { facts: readonly Fact[] }) => facts.map(({ kind }) => kind)
const issued = ({ facts }: Change) => facts.find(fact => fact.kind === 'charge_requested')
const tick = (subscription: Subscription, n: number) => advance(subscription, day(n), mint())
const change = (subscription: Subscription, amendment: Amendment, n: number) => amend(subscription, amendment, day(n), mint())
const refusal = (work: () => unknown) => {
  try {
    work()
    return null
  } catch (error) {
    return error instanceof ApiError ? error.errors?.[0]?.path : error
  }
}
/** Every day until `last`, with orders that end unpaid a day after they were issued; what happened, by day. */
function play(subscription: Subscription, last: number) {
  const story: [number, string][] = []
  let state = subscription
  const take = (n: number, change: Change) => {
    for (const kind of kinds(change)) story.push([n, kind])
    state = change.subscription
  }
  for (let n = 0; n <= last; n += 1) {
    for (const { attempts } of state.charges)
      for (const { status, orderId, endsAt } of attempts)
        if (status === 'open' && endsAt !== null && endsAt <= day(n)) take(n, recordClosed(state, orderId, 'expired', day(n)))
    take(n, tick(state, n))
  }
  return { story, state }
}

test('an amendment of what is so already leaves the plan as it is', () => {
  const { subscription: begun } = tick(create({ metadata: { a: '1' } }), 0)
  const asIs: Amendment = { metadata: { a: '1', b: null }, brlCentavos: 4990n, maxPeriods: null, paused: false, appliesNow: true }
  expect(change(begun, asIs, 1)).toEqual({ from: begun, subscription: begun, facts: [] })
  expect(change(begun, asIs, 1).subscription).toBe(begun)
  const { subscription: paused } = change(begun, { paused: true }, 1)
  expect(change(paused, { paused: true }, 2).subscription).toBe(paused)
})

describe('a trial', () => {
  it('asks for nothing, neither by itself nor at the merchant`s word, and is recorded as no missed period', () => {
    const plan = create({ trialPeriods: 2 })
    expect([trialEnd(plan), nextChargeAt(plan, day(0))]).toEqual([day(20), day(20)])
    const { state, story } = play(plan, 19)
    expect([story, state.charges, state.periodIndex]).toEqual([[], [], 1])
    expect(() => charge(state, day(15), mint())).toThrow('belongs to the trial')
    expect(issued(tick(state, 20))?.charge).toMatchObject({ periodIndex: 2, brlCentavos: 4990n })
  })

  it('is over for a plan that begins in the past, and only what was asked for after it is skipped', () => {
    const { charges } = tick(create({ trialPeriods: 2, startAt: day(-45) }), 0).subscription
    expect(charges.map(({ periodIndex, periods, status }) => [periodIndex, periods, status])).toEqual([
      [2, 2, 'skipped'],
      [4, 1, 'open'],
    ])
  })

  it('counts in neither way of counting max_periods', () => {
    const { state } = play(create({ trialPeriods: 2, maxPeriods: 1, maxPeriodsCounts: 'periods' }), 30)
    expect([state.status, state.expiredAt, state.chargesDone]).toEqual(['expired', day(30), 0])
  })
})

describe('max_periods', () => {
  it('counts payments unless the merchant chose otherwise: an unpaid plan goes on', () => {
    expect(play(create({ maxPeriods: 2 }), 45).state).toMatchObject({ status: 'past_due', periodIndex: 4 })
  })

  it('counts periods where the merchant chose so: the plan ends with the last of them, paid or not', () => {
    const { state, story } = play(create({ maxPeriods: 2, maxPeriodsCounts: 'periods' }), 45)
    expect(state).toMatchObject({ status: 'expired', periodIndex: 1, expiredAt: day(20), chargesDone: 0 })
    expect(story.at(-1)).toEqual([20, 'expired'])
  })

  it('cannot be put below the periods that have begun', () => {
    const { state } = play(create({ maxPeriods: 5, maxPeriodsCounts: 'periods' }), 25)
    expect(refusal(() => change(state, { maxPeriods: 2 }, 25))).toBe('max_periods')
    expect(play(change(state, { maxPeriods: 3 }, 25).subscription, 31).state).toMatchObject({ status: 'expired', periodIndex: 2 })
  })

  it('may be as large as the calendar is long, and longer', () => {
    const plan = create({ plan: { interval: 'year', intervalCount: 366 }, maxPeriods: 100_000, maxPeriodsCounts: 'periods' })
    expect(wakeAt(tick(plan, 0).subscription, day(0))).not.toBeNull()
  })
})

describe('cancel_at_period_end', () => {
  it('cancels when the period ends, once nothing is out, and issues nothing more', () => {
    const decided = change(tick(create(), 0).subscription, { cancelAtPeriodEnd: true }, 3).subscription
    expect([decided.status, decided.cancelAt, nextChargeAt(decided, day(3))]).toEqual(['active', day(10), null])
    const { state, story } = play(decided, 15)
    expect(state).toMatchObject({ status: 'cancelled', cancelledAt: day(10), periodIndex: 0 })
    expect(story.filter(([, kind]) => kind === 'cancelled')).toEqual([[10, 'cancelled']])
  })

  it('is taken back until then, and does not move with a second word', () => {
    const decided = change(tick(create(), 0).subscription, { cancelAtPeriodEnd: true }, 3).subscription
    expect(change(decided, { cancelAtPeriodEnd: true }, 4).subscription.cancelAt).toEqual(day(10))
    const { state } = play(change(decided, { cancelAtPeriodEnd: false }, 5).subscription, 12)
    expect(state).toMatchObject({ status: 'past_due', periodIndex: 1, cancelAt: null })
  })

  it('lets the earlier of two ends come, and needs a plan', () => {
    const both = change(tick(create({ expiresAt: day(5) }), 0).subscription, { cancelAtPeriodEnd: true }, 1).subscription
    expect(play(both, 12).state).toMatchObject({ status: 'expired', expiredAt: day(5) })
    expect(refusal(() => change(create({ plan: null }), { cancelAtPeriodEnd: true }, 1))).toBe('cancel_at_period_end')
  })

  it('holds when the end that was nearer is put off, with it or later', () => {
    const ending = tick(create({ expiresAt: day(5) }), 0).subscription
    const later = change(change(ending, { cancelAtPeriodEnd: true }, 1).subscription, { expiresAt: null }, 2)
    const atOnce = change(ending, { cancelAtPeriodEnd: true, expiresAt: null }, 1)
    for (const { subscription } of [later, atOnce])
      expect(play(subscription, 25).state).toMatchObject({ status: 'cancelled', cancelledAt: day(10), periodIndex: 0 })
  })
})

describe('terms that apply now', () => {
  const asked = () => tick(create(), 0).subscription
  const orderOf = ({ charges }: Subscription) => charges[0]?.attempts.at(-1)?.orderId ?? ''

  it('take the place of the open order: it is called off, and another is issued once it is closed, never before', () => {
    const changed = change(asked(), { brlCentavos: 2990n, description: 'half', appliesNow: true }, 1)
    const old = orderOf(changed.subscription)
    expect(changed.facts).toEqual([{ kind: 'superseded', orderId: old, isReplaced: true }])
    expect(issued(tick(changed.subscription, 1))).toBeUndefined()
    const closed = recordClosed(changed.subscription, old, 'cancelled', day(1)).subscription
    expect(wakeAt(closed, day(1))).toEqual(day(1))
    expect(issued(tick(closed, 1))).toMatchObject({ attempt: { brlCentavos: 2990n }, wording: { description: 'half' } })
  })

  it('also when orders had not opened the order yet', () => {
    const changed = change(asked(), { brlCentavos: 2990n, appliesNow: true }, 1).subscription
    const closed = recordRefused(changed, orderOf(changed), 'withdrawn', day(1)).subscription
    expect(issued(tick(closed, 1))?.attempt.brlCentavos).toBe(2990n)
  })

  it('call an order off once, however often they change before it is closed, and not for what changes nothing', () => {
    const once = change(asked(), { brlCentavos: 2990n, appliesNow: true }, 1).subscription
    expect(kinds(change(once, { brlCentavos: 1990n, appliesNow: true }, 1))).toEqual([])
    expect(kinds(change(asked(), { brlCentavos: 4990n, appliesNow: true }, 1))).toEqual([])
    expect(kinds(change(asked(), { brlCentavos: 2990n }, 1))).toEqual([])
  })

  it('hold for the retry of an order that expired', () => {
    const open = asked()
    const expired = recordClosed(open, orderOf(open), 'expired', day(0.5))
    const changed = change(expired.subscription, { brlCentavos: 2990n, appliesNow: true }, 0.6)
    expect(kinds(changed)).toEqual([])
    expect(issued(tick(changed.subscription, 1))?.attempt.brlCentavos).toBe(2990n)
  })
})

describe('metadata', () => {
  it('is merged by key, and null removes one', () => {
    const plan = create({ metadata: { a: '1', b: '2' } })
    expect(change(plan, { metadata: { b: null, c: '3' } }, 0).subscription.metadata).toEqual({ a: '1', c: '3' })
  })

  it('has no more keys after the change than it may have', () => {
    const full = create({ metadata: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'v'])) })
    expect(refusal(() => change(full, { metadata: { one: 'more' } }, 0))).toBe('metadata')
    expect(refusal(() => change(full, { metadata: { one: 'more', k0: null } }, 0))).toBeNull()
  })
})

describe('what a merchant may choose to hear', () => {
  it('is each charge once, ahead of time, and none while the plan is paused or will have ended', () => {
    const notices = (plan: Subscription, last = 45) => play(plan, last).story.filter(([, kind]) => kind === 'upcoming')
    expect(notices(create({}, 3 * 86_400))).toEqual([7, 17, 27, 37].map(n => [n, 'upcoming']))
    expect(notices(create({ expiresAt: day(20) }, 3 * 86_400))).toEqual([[7, 'upcoming']])
    expect(notices(create({ trialPeriods: 2 }, 3 * 86_400), 20)).toEqual([[17, 'upcoming']])
    expect(notices(create({ startAt: day(5) }, 3 * 86_400), 5)).toEqual([[2, 'upcoming']])
    expect(notices(change(create({}, 3 * 86_400), { paused: true }, 0).subscription)).toEqual([])
    expect(notices(create())).toEqual([])
  })

  it('wakes the scheduler for the notice', () => {
    expect(wakeAt(tick(create({}, 3 * 86_400), 0).subscription, day(0))).toEqual(day(7))
  })

  it('is that a plan becomes past due, once until it is paid, and that it goes on after a pause', () => {
    const { state, story } = play(create(), 15)
    expect(story.filter(([, kind]) => kind === 'past_due')).toEqual([[1, 'past_due']])
    const paused = change(state, { paused: true }, 15)
    expect(kinds(change(paused.subscription, { paused: false }, 16))).toContain('resumed')
    expect(kinds(change(state, { paused: false }, 16))).not.toContain('resumed')
  })
})
