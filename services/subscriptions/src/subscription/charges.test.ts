import { Temporal } from '@js-temporal/polyfill'
import { ApiError } from '@ponte/contracts'
import { openPlan, paidOrder } from '../../test/plan'
import { amend } from './amendment'
import { advance, charge, nextChargeAt, wakeAt } from './charges'
import { cancel } from './end'
import { recordClosed, recordPaid, recordReceived } from './order-outcome'
import { type Change, type Fact, type NewSubscription, openOrderId, type Subscription } from './subscription'

const START = '2026-01-31T12:00:00.000Z'
const at = (text: string) => new Date(text)
const later = (from: Date | string, days: number) => new Date(new Date(from).getTime() + days * 86_400_000)
let minted = 0
const mint = () => ({ orderId: `order-${++minted}`, memo: 'a'.repeat(64), hasPayoutAddress: true })
const DUNNING = { noticeS: 0, retryAfterS: [86_400, 259_200, 604_800], unpaidPeriodsMax: 3, whenUnpaid: 'leave' as const }

const received = (orderId: string, missing: string) => ({
  ...{ merchant_id: 'm', merchant_version: 1, subscription_id: 's', order_id: orderId, revision: 2 },
  ...{ missing_brl_amount: missing, order: paidOrder(orderId) },
})

const create = (input: Partial<NewSubscription> = {}) =>
  openPlan({ startAt: at(START), timezone: 'America/Sao_Paulo', dunning: DUNNING, ...input }, at(START))
const tick = (subscription: Subscription, when: Date) => advance(subscription, when, mint())
const issuedBy = (change: { facts: readonly Fact[] }) => change.facts.find(fact => fact.kind === 'charge_requested')
const orderOf = (change: Change) => issuedBy(change)?.attempt.orderId ?? ''
/** A moment before everything, for those who ask what is due next. */
const wake = (subscription: Subscription, when = at(START)) => wakeAt(subscription, when)
const nextAt = (subscription: Subscription) => nextChargeAt(subscription, at(START))
const kinds = (change: { facts: readonly Fact[] }) => change.facts.map(fact => fact.kind)
const codeOf = (work: () => unknown) => {
  try {
    work()
    return 'done'
  } catch (error) {
    return error instanceof ApiError ? error.code : error
  }
}

describe('a plan', () => {
  it('issues nothing before its start and the first order at it', () => {
    expect(kinds(tick(create(), at('2026-01-31T11:59:59.999Z')))).toEqual([])
    const first = tick(create(), at(START))
    expect(issuedBy(first)).toMatchObject({ charge: { periodIndex: 0, brlCentavos: 4990n }, expiresInS: 86_400 })
    expect(nextAt(first.subscription)).toEqual(at('2026-02-28T12:00:00Z'))
  })

  it('issues a period once, however often it is asked', () => {
    const first = tick(create(), at(START))
    expect(kinds(tick(first.subscription, later(START, 1)))).toEqual([])
  })

  it('bills the current period only after three months of silence, and records the missed ones as skipped', () => {
    const change = tick(create(), at('2026-05-10T00:00:00Z'))
    expect(issuedBy(change)?.charge.periodIndex).toBe(3)
    expect(change.facts[0]).toEqual({ kind: 'skipped', periods: 3 })
    expect(change.subscription.charges.map(({ periodIndex, periods, status }) => [periodIndex, periods, status])).toEqual([
      [0, 3, 'skipped'],
      [3, 1, 'open'],
    ])
  })

  it('never lets an order outlive its period', () => {
    const daily = create({ plan: { interval: 'day', intervalCount: 1 }, orderExpiresInS: 7 * 86_400 })
    expect(issuedBy(tick(daily, at(START)))?.expiresInS).toBe(86_400)
    expect(issuedBy(tick(create({ expiresAt: later(START, 0.5) }), at(START)))?.expiresInS).toBe(43_200)
  })

  it('issues no order that a payer could not use: with less than five minutes left, or less than its own life', () => {
    const ending = (seconds: number, orderExpiresInS = 86_400) =>
      issuedBy(tick(create({ expiresAt: new Date(at(START).getTime() + seconds * 1000), orderExpiresInS }), at(START)))?.expiresInS
    expect([ending(3), ending(299), ending(300), ending(9, 10), ending(10, 10)]).toEqual([undefined, undefined, 300, undefined, 10])
  })

  it('keeps its day of the month: 31 January, 28 February, 31 March', () => {
    let state = create()
    const days: string[] = []
    for (let month = 0; month < 14; month += 1) {
      const when = wake(state) ?? at(START)
      const change = tick(state, when)
      days.push(when.toISOString().slice(0, 10))
      state = recordPaid(change.subscription, paidOrder(orderOf(change)), when).subscription
    }
    expect(days.slice(0, 5)).toEqual(['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'])
    expect(days.at(-1)).toBe('2027-02-28')
  })

  it.each(['day', 'month'] as const)('played over five simulated years by the %s has the calendar`s number of charges', interval => {
    let state = create({ plan: { interval, intervalCount: 1 }, orderExpiresInS: 3600 })
    const end = at('2031-01-31T12:00:00.000Z')
    let orders = 0
    for (let when = wake(state); when && when < end; when = wake(state, when)) {
      const change = tick(state, when)
      if (issuedBy(change)) orders += 1
      const paid = issuedBy(change) ? recordPaid(change.subscription, paidOrder(orderOf(change)), when).subscription : change.subscription
      // As the store does: what cannot change any more is not loaded again.
      state = { ...paid, charges: paid.charges.filter(({ status }) => status === 'open') }
    }
    const unit = interval === 'day' ? 'days' : 'months'
    const calendar = Temporal.PlainDate.from('2026-01-31').until('2031-01-31', { largestUnit: unit })[unit]
    expect([orders, state.chargesDone]).toEqual([calendar, calendar])
  })
})

describe('an order of a plan that expired unpaid', () => {
  const first = tick(create(), at(START))
  const unpaid = recordClosed(first.subscription, orderOf(first), 'expired', later(START, 0.1))

  it('makes the plan past due, and is issued again after one, three and seven days with a new memo', () => {
    expect(unpaid.subscription.status).toBe('past_due')
    let state = unpaid.subscription
    for (const days of [1, 3, 7]) {
      expect(wake(state)).toEqual(later(START, days))
      expect(kinds(tick(state, new Date(later(START, days).getTime() - 1)))).toEqual([])
      const again = tick(state, later(START, days))
      expect(issuedBy(again)).toMatchObject({ charge: { periodIndex: 0, brlCentavos: 4990n } })
      expect(orderOf(again)).not.toBe(orderOf(first))
      state = recordClosed(again.subscription, orderOf(again), 'expired', later(START, days + 0.1)).subscription
    }
    expect(wake(state)).toEqual(at('2026-02-28T12:00:00Z'))
    expect(state.status).toBe('past_due')
  })

  it('can be charged by the merchant at any moment in between', () => {
    const again = charge(unpaid.subscription, later(START, 0.5), mint())
    expect(again.outcome).toBe('issued')
    const expired = recordClosed(again.subscription, again.attempt.orderId, 'expired', later(START, 0.6)).subscription
    expect(wake(expired)).toEqual(later(START, 1))
  })

  it('is active again when the new order is paid', () => {
    const again = tick(unpaid.subscription, later(START, 1))
    const paid = recordPaid(again.subscription, paidOrder(orderOf(again)), later(START, 1.1))
    expect(paid.subscription).toMatchObject({ status: 'active', chargesDone: 1 })
    expect(kinds(paid)).toEqual(['charged', 'superseded'])
  })

  it('counts when it turns out to have been paid in time; the newer order is then a duplicate', () => {
    const again = tick(unpaid.subscription, later(START, 1))
    const older = recordPaid(again.subscription, paidOrder(orderOf(first)), later(START, 1.1))
    expect(older.subscription).toMatchObject({ status: 'active', chargesDone: 1 })
    expect(older.facts).toMatchObject([{ kind: 'charged' }, { kind: 'superseded', orderId: orderOf(again) }])
    const newer = recordPaid(older.subscription, paidOrder(orderOf(again)), later(START, 1.2))
    expect(newer.subscription.chargesDone).toBe(1)
    expect(newer.facts).toEqual([{ kind: 'duplicate', orderId: orderOf(again), periodIndex: 0 }])
    expect(newer.subscription.charges[0]?.attempts.map(({ status }) => status)).toEqual(['paid', 'duplicate'])
  })

  it('calls off what is open, and nothing a duplicate, when all of its money has come late', () => {
    const again = tick(unpaid.subscription, later(START, 1))
    const [older, newer] = [orderOf(first), orderOf(again)]
    const late = recordReceived(again.subscription, received(older, '0.00'), later(START, 1.1))
    expect(late.facts.filter(({ kind }) => kind === 'superseded')).toEqual([{ kind: 'superseded', orderId: newer, isReplaced: true }])
    const paid = recordPaid(late.subscription, paidOrder(newer), later(START, 1.2))
    expect(paid.facts.filter(({ kind }) => kind === 'superseded')).toMatchObject([{ orderId: older }])

    const both = recordClosed(again.subscription, newer, 'expired', later(START, 2)).subscription
    const one = recordReceived(both, received(newer, '0.00'), later(START, 2.1))
    const other = recordReceived(one.subscription, received(older, '0.00'), later(START, 2.2))
    expect([...one.facts, ...other.facts].filter(({ kind }) => kind === 'superseded')).toEqual([])
  })

  it('is issued anew when what came late goes back', () => {
    const again = tick(unpaid.subscription, later(START, 1))
    const late = recordReceived(again.subscription, received(orderOf(first), '0.00'), later(START, 1.1)).subscription
    const closed = recordClosed(late, orderOf(again), 'cancelled', later(START, 1.1)).subscription
    expect(issuedBy(tick(closed, later(START, 1.2)))).toBeUndefined()
    const returned = recordReceived(closed, { ...received(orderOf(first), '19.90'), revision: 3 }, later(START, 1.3)).subscription
    expect(issuedBy(tick(returned, later(START, 1.3)))?.attempt.brlCentavos).toBe(1990n)
  })

  it('was deducted from what the paid order asked for, or came beside it', () => {
    const part = recordReceived(unpaid.subscription, received(orderOf(first), '29.90'), later(START, 0.9)).subscription
    const again = tick(part, later(START, 1))
    expect(issuedBy(again)?.attempt.brlCentavos).toBe(2990n)
    const more = recordReceived(again.subscription, { ...received(orderOf(first), '9.90'), revision: 3 }, later(START, 1.1))
    const paid = recordPaid(more.subscription, paidOrder(orderOf(again)), later(START, 1.2))
    expect(paid.facts).toMatchObject([{ kind: 'charged' }, { kind: 'superseded', orderId: orderOf(first), deductedCentavos: 2000n }])

    const whole = tick(unpaid.subscription, later(START, 1))
    const late = recordReceived(whole.subscription, received(orderOf(first), '29.90'), later(START, 1.1)).subscription
    expect(recordPaid(late, paidOrder(orderOf(whole)), later(START, 1.2)).facts).toMatchObject([{}, { deductedCentavos: 0n }])
  })

  it('has no other order to be accepted once one is paid, not even one that was cancelled', () => {
    const cancelled = recordClosed(first.subscription, orderOf(first), 'cancelled', later(START, 0.1)).subscription
    const again = charge(cancelled, later(START, 1), mint())
    const paid = recordPaid(again.subscription, paidOrder(again.attempt.orderId), later(START, 1.1))
    expect(paid.facts).toMatchObject([{ kind: 'charged' }, { kind: 'superseded', orderId: orderOf(first) }])
  })

  it('is not issued again when the merchant cancelled it', () => {
    const cancelled = recordClosed(first.subscription, orderOf(first), 'cancelled', later(START, 0.1)).subscription
    expect(cancelled.status).toBe('active')
    expect(wake(cancelled)).toEqual(at('2026-02-28T12:00:00Z'))
    expect(charge(cancelled, later(START, 2), mint()).outcome).toBe('issued')
  })

  it('is skipped when the next period begins, and the plan stays past due until something is paid', () => {
    const next = tick(unpaid.subscription, at('2026-02-28T12:00:00Z'))
    expect(kinds(next)).toEqual(['skipped', 'charge_requested'])
    expect(next.subscription.status).toBe('past_due')
    expect(recordPaid(next.subscription, paidOrder(orderOf(next)), at('2026-02-28T13:00:00Z')).subscription.status).toBe('active')
  })

  it('still counts once when its money arrives after its period was skipped', () => {
    const skipped = tick(first.subscription, at('2026-02-28T12:00:00Z'))
    const paid = recordPaid(skipped.subscription, paidOrder(orderOf(first)), at('2026-02-28T12:01:00Z'))
    expect(paid.subscription).toMatchObject({ chargesDone: 1, periodIndex: 1 })
    expect(kinds(recordPaid(paid.subscription, paidOrder(orderOf(skipped)), at('2026-02-28T12:02:00Z')))).toEqual(['charged'])
  })
})

describe('facts that come twice or in the wrong order', () => {
  const first = tick(create(), at(START))
  const paid = recordPaid(first.subscription, paidOrder(orderOf(first)), later(START, 0.1)).subscription

  it('change nothing the second time', () => {
    expect(recordPaid(paid, paidOrder(orderOf(first)), later(START, 0.2)).facts).toEqual([])
    expect(recordPaid(paid, paidOrder(orderOf(first)), later(START, 0.2)).subscription).toBe(paid)
  })

  it('let a payment win over an expiry whose event came later', () => {
    expect(recordClosed(paid, orderOf(first), 'expired', later(START, 0.2)).subscription).toBe(paid)
  })
})

describe('POST /charge of a plan', () => {
  it('issues the current period when the scheduler has not, and answers the open order after that', () => {
    const issued = charge(create(), later(START, 0.1), mint())
    expect(issued.outcome).toBe('issued')
    const again = charge(issued.subscription, later(START, 0.2), mint())
    expect([again.outcome, again.attempt.orderId]).toEqual(['open', issued.attempt.orderId])
  })

  it('is not due before the start, nor once the current period is paid', () => {
    expect(codeOf(() => charge(create(), later(START, -1), mint()))).toBe('not_due')
    const issued = charge(create(), at(START), mint())
    const paid = recordPaid(issued.subscription, paidOrder(issued.attempt.orderId), at(START)).subscription
    expect(codeOf(() => charge(paid, later(START, 1), mint()))).toBe('not_due')
    expect(charge(paid, at('2026-02-28T12:00:00Z'), mint()).outcome).toBe('issued')
  })

  it('is refused for a period of which a hundred orders were opened within a day, and so is a change that would open another', () => {
    let last = charge(create(), at(START), mint())
    for (let opened = 1; opened < 100; opened++) {
      const cancelled = recordClosed(last.subscription, last.attempt.orderId, 'cancelled', at(START)).subscription
      last = charge(cancelled, at(START), mint())
    }
    expect(codeOf(() => amend(last.subscription, { brlCentavos: 1n, appliesNow: true }, at(START), mint()))).toBe('invalid_state')
    const cancelled = recordClosed(last.subscription, last.attempt.orderId, 'cancelled', at(START)).subscription
    expect(codeOf(() => charge(cancelled, at(START), mint()))).toBe('invalid_state')
    expect(charge(cancelled, later(START, 1), mint()).outcome).toBe('issued')
  })

  it('is refused for a period of which two hundred orders were opened', () => {
    let last = charge(create({ plan: null }), at(START), mint())
    for (let opened = 1; opened < 200; opened++) {
      const cancelled = recordClosed(last.subscription, last.attempt.orderId, 'cancelled', at(START)).subscription
      last = charge(cancelled, later(START, opened), mint())
    }
    const cancelled = recordClosed(last.subscription, last.attempt.orderId, 'cancelled', at(START)).subscription
    expect(codeOf(() => charge(cancelled, later(START, 400), mint()))).toBe('invalid_state')
  })

  it('is refused in a final state', () => {
    const cancelled = cancel(create(), at(START))?.subscription ?? create()
    expect(codeOf(() => charge(cancelled, at(START), mint()))).toBe('invalid_state')
    expect(codeOf(() => charge(create({ expiresAt: later(START, 1) }), later(START, 2), mint()))).toBe('invalid_state')
  })
})

describe('a merchant-driven subscription', () => {
  const driven = (input: Partial<NewSubscription> = {}) => create({ plan: null, ...input })

  it('charges on request, one order at a time', () => {
    const one = charge(driven(), later(START, 40), mint())
    expect([one.outcome, charge(one.subscription, later(START, 40), mint()).outcome]).toEqual(['issued', 'open'])
    const paid = recordPaid(one.subscription, paidOrder(one.attempt.orderId), later(START, 40)).subscription
    const two = charge(paid, later(START, 40), mint())
    expect([two.outcome, two.subscription.periodIndex]).toEqual(['issued', 1])
  })

  it('asks for the amount of now when an order expired and the amount was changed since', () => {
    const one = charge(driven(), at(START), mint())
    const unpaid = recordClosed(one.subscription, one.attempt.orderId, 'expired', later(START, 1)).subscription
    const changed = amend(unpaid, { brlCentavos: 9990n }, later(START, 1), mint()).subscription
    const two = charge(changed, later(START, 2), mint())
    expect(issuedBy(two)?.charge).toMatchObject({ periodIndex: 0, brlCentavos: 9990n })
  })

  it('issues nothing by itself and is never past due', () => {
    expect(wake(driven())).toBeNull()
    const one = charge(driven(), at(START), mint())
    const unpaid = recordClosed(one.subscription, one.attempt.orderId, 'expired', later(START, 1)).subscription
    expect([unpaid.status, wake(unpaid), nextAt(unpaid)]).toEqual(['active', null, null])
    expect(charge(unpaid, later(START, 2), mint()).outcome).toBe('issued')
  })
})

describe('the end of a subscription', () => {
  it('comes with the last charge, in the same change, after it', () => {
    const last = tick(create({ maxPeriods: 1 }), at(START))
    const paid = recordPaid(last.subscription, paidOrder(orderOf(last)), later(START, 0.1))
    expect([paid.subscription.status, kinds(paid), wake(paid.subscription)]).toEqual(['expired', ['charged', 'expired'], null])
  })

  it('comes once when expires_at is reached', () => {
    const subscription = create({ startAt: later(START, 10), expiresAt: later(START, 5) })
    expect(wake(subscription)).toEqual(later(START, 5))
    const over = tick(subscription, later(START, 5))
    expect([over.subscription.status, kinds(over)]).toEqual(['expired', ['expired']])
    expect(kinds(tick(over.subscription, later(START, 6)))).toEqual([])
  })

  it.each(['paid', 'expired', 'cancelled'] as const)('waits for an order that is still out, which is then %s', outcome => {
    const first = tick(create({ expiresAt: later(START, 5) }), at(START))
    const waiting = tick(first.subscription, later(START, 6))
    expect([waiting.subscription.status, waiting.facts, wake(waiting.subscription, later(START, 6))]).toEqual(['active', [], null])
    const settled =
      outcome === 'paid'
        ? recordPaid(waiting.subscription, paidOrder(orderOf(first)), later(START, 6.1))
        : recordClosed(waiting.subscription, orderOf(first), outcome, later(START, 6.1))
    expect(kinds(settled)).toEqual(outcome === 'paid' ? ['charged', 'expired'] : ['expired'])
  })

  it('is not overshot: while the last order is being paid no other is issued', () => {
    const first = tick(create({ maxPeriods: 1 }), at(START))
    const held = tick(first.subscription, at('2026-02-28T12:00:00Z'))
    expect(kinds(held)).toEqual(['skipped'])
    const again = charge(held.subscription, at('2026-02-28T12:00:01Z'), mint())
    expect([again.outcome, again.attempt.orderId]).toEqual(['open', orderOf(first)])
    const freed = recordClosed(held.subscription, orderOf(first), 'expired', at('2026-02-28T12:01:00Z')).subscription
    expect(wake(freed)?.getTime()).toBeLessThan(at('2026-02-28T12:01:00Z').getTime())
    expect(kinds(tick(freed, at('2026-02-28T12:01:00Z')))).toEqual(['charge_requested'])
  })
})

describe('cancelling', () => {
  const first = tick(create({ maxPeriods: 1 }), at(START))

  it('takes the open order with it, and is done once', () => {
    const change = cancel(first.subscription, later(START, 0.1))
    expect(change?.facts).toEqual([{ kind: 'cancelled', openOrderIds: [orderOf(first)] }])
    expect(change && cancel(change.subscription, later(START, 0.2))).toBeNull()
  })

  it('leaves nothing open once its order is cancelled too', () => {
    const cancelled = cancel(first.subscription, later(START, 0.1))?.subscription ?? first.subscription
    expect(cancelled.charges.map(({ status }) => status)).toEqual(['open'])
    const closed = recordClosed(cancelled, orderOf(first), 'cancelled', later(START, 0.2))
    expect([closed.subscription.charges.map(({ status }) => status), closed.facts]).toEqual([['skipped'], []])
  })

  it('does not stop a payment in flight from counting, and nothing expires after it', () => {
    const cancelled = cancel(first.subscription, later(START, 0.1))?.subscription ?? first.subscription
    const paid = recordPaid(cancelled, paidOrder(orderOf(first)), later(START, 0.2))
    expect([paid.subscription.status, paid.subscription.chargesDone, kinds(paid)]).toEqual(['cancelled', 1, ['charged']])
  })

  it('is refused once expired', () => {
    const expired = recordPaid(first.subscription, paidOrder(orderOf(first)), later(START, 0.1)).subscription
    expect(codeOf(() => cancel(expired, later(START, 0.2)))).toBe('invalid_state')
  })
})

describe('PATCH', () => {
  it('changes the amount from the next period; what is due is issued on the old terms first', () => {
    const change = amend(create(), { brlCentavos: 9990n }, later(START, 0.1), mint())
    expect(issuedBy(change)?.charge.brlCentavos).toBe(4990n)
    const paid = recordPaid(change.subscription, paidOrder(orderOf(change)), later(START, 0.2)).subscription
    expect(issuedBy(tick(paid, at('2026-02-28T12:00:00Z')))?.charge.brlCentavos).toBe(9990n)
  })

  it('issues a past-due period again on its own terms', () => {
    const first = tick(create(), at(START))
    const unpaid = recordClosed(first.subscription, orderOf(first), 'expired', later(START, 0.1)).subscription
    const changed = amend(unpaid, { brlCentavos: 9990n }, later(START, 0.5), mint()).subscription
    expect(issuedBy(tick(changed, later(START, 1)))?.charge.brlCentavos).toBe(4990n)
  })

  it('changes the schedule from the next period, whose beginning stays', () => {
    const first = tick(create(), at(START)).subscription
    const changed = amend(first, { interval: 'week' }, later(START, 3), mint()).subscription
    expect(nextAt(changed)).toEqual(at('2026-02-28T12:00:00Z'))
    expect(nextAt(tick(changed, at('2026-02-28T12:00:00Z')).subscription)).toEqual(at('2026-03-07T12:00:00Z'))
  })

  it('refuses fewer periods than are charged, an end in the past, and any change of a final state', () => {
    const first = tick(create({ maxPeriods: 3 }), at(START))
    const paid = recordPaid(first.subscription, paidOrder(orderOf(first)), later(START, 0.1)).subscription
    const twice = { ...paid, chargesDone: 2 }
    expect(codeOf(() => amend(twice, { maxPeriods: 1 }, later(START, 1), mint()))).toBe('invalid_request')
    expect(codeOf(() => amend(twice, { expiresAt: later(START, 1) }, later(START, 1), mint()))).toBe('invalid_request')
    expect(codeOf(() => amend(create({ plan: null }), { interval: 'day' }, later(START, 1), mint()))).toBe('invalid_request')
    const cancelled = cancel(twice, later(START, 1))?.subscription ?? twice
    expect(codeOf(() => amend(cancelled, { brlCentavos: 1n }, later(START, 1), mint()))).toBe('invalid_state')
  })

  it('ends the subscription when max_periods is lowered to what is done', () => {
    const first = tick(create({ maxPeriods: 3 }), at(START))
    const paid = recordPaid(first.subscription, paidOrder(orderOf(first)), later(START, 0.1)).subscription
    const change = amend(paid, { maxPeriods: 1 }, later(START, 1), mint())
    expect([change.subscription.status, kinds(change), openOrderId(change.subscription)]).toEqual(['expired', ['expired'], null])
  })
})
