import { openPlan, paidOrder } from '../../test/plan'
import { amend } from './amendment'
import { advance, charge } from './charges'
import { recordClosed, recordPaid, recordReceived } from './order-outcome'
import { type Change, type Dunning, type NewSubscription, openOrderId, type Subscription } from './subscription'

const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 86_400_000)
let minted = 0
const mint = () => ({ orderId: `order-${++minted}`, memo: 'a'.repeat(64), hasPayoutAddress: true })
const create = (dunning: Partial<Dunning>, input: Partial<NewSubscription> = {}) =>
  openPlan(
    {
      ...{ plan: { interval: 'day', intervalCount: 10 }, startAt: day(0), orderExpiresInS: 10 * 86_400 },
      dunning: { noticeS: 0, retryAfterS: [], unpaidPeriodsMax: 2, whenUnpaid: 'cancel', ...dunning },
      ...input,
    },
    day(0),
  )

/** The test decides when the reports of this plan come. */
function story(first: Subscription) {
  let state = first
  const kinds: string[] = []
  const take = ({ subscription, facts }: Change) => {
    state = subscription
    for (const { kind } of facts) kinds.push(kind)
  }
  const orders: string[] = []
  return {
    kinds,
    orders,
    state: () => state,
    look(n: number) {
      take(advance(state, day(n), mint()))
      const order = openOrderId(state)
      if (order !== null && !orders.includes(order)) orders.push(order)
    },
    expired: (which: number, n: number) => take(recordClosed(state, orders[which] ?? '', 'expired', day(n))),
    cancelled: (which: number, n: number) => take(recordClosed(state, orders[which] ?? '', 'cancelled', day(n))),
    paid: (which: number, n: number) => take(recordPaid(state, paidOrder(orders[which] ?? ''), day(n))),
    amend: (amendment: Parameters<typeof amend>[1], n: number) => take(amend(state, amendment, day(n), mint())),
    completeLate: (which: number, n: number) =>
      take(
        recordReceived(
          state,
          {
            ...{ merchant_id: 'm', merchant_version: 1, subscription_id: 's', order_id: orders[which] ?? '', revision: 1 },
            ...{ missing_brl_amount: '0.00', order: null },
          },
          day(n),
        ),
      ),
  }
}

/** The first period is known to be unpaid; the second is over, and orders has not reported the end of its order. */
function undecided(dunning: Partial<Dunning>, input: Partial<NewSubscription> = {}) {
  const plan = story(create(dunning, input))
  plan.look(0)
  plan.look(10)
  plan.expired(0, 10)
  plan.look(20)
  return plan
}

describe('a period whose order is undecided', () => {
  it.each(['cancel', 'pause'] as const)('does not let a plan %s, and no order is issued that the end would call off', whenUnpaid => {
    const plan = undecided({ whenUnpaid })
    expect([plan.state().status, plan.state().pausedAt, plan.orders.length]).toEqual(['past_due', null, 2])
  })

  it.each(['cancel', 'pause'] as const)('and was paid in time keeps a plan that would %s', whenUnpaid => {
    const plan = undecided({ whenUnpaid })
    plan.paid(1, 22)
    plan.look(22)
    expect([plan.state().status, plan.state().pausedAt, plan.orders.length]).toEqual(['active', null, 3])
    expect(plan.kinds).not.toContain('cancelled')
  })

  it('and was not paid ends the plan with the report, whenever it comes', () => {
    const plan = undecided({})
    plan.expired(1, 35)
    expect([plan.state().status, plan.kinds.filter(kind => kind === 'cancelled').length]).toEqual(['cancelled', 1])
  })

  it('does not make a plan past due before orders reports that it was not paid', () => {
    const plan = story(create({}))
    plan.look(0)
    plan.look(10)
    expect(plan.kinds).not.toContain('past_due')
    plan.expired(0, 11)
    expect([plan.state().status, plan.kinds.filter(kind => kind === 'past_due')]).toEqual(['past_due', ['past_due']])
  })

  it('is no unpaid period once the merchant has cancelled its order', () => {
    const plan = undecided({})
    plan.cancelled(1, 21)
    plan.look(21)
    expect([plan.state().unpaidPeriods, plan.orders.length]).toEqual([1, 3])
  })

  it('is answered by its own order while it may end the plan', () => {
    const plan = undecided({})
    expect(charge(plan.state(), day(21), mint())).toMatchObject({ outcome: 'open', attempt: { orderId: plan.orders[1] } })
  })
})

describe('reports in another order', () => {
  it('leave the same count: a payment of an older period takes back no newer one', () => {
    const play = (reports: readonly ('paid' | 'expired')[]) => {
      const plan = story(create({ unpaidPeriodsMax: 9 }))
      for (const n of [0, 10, 20, 30]) plan.look(n)
      for (const report of reports) report === 'paid' ? plan.paid(0, 31) : [1, 2].forEach(which => void plan.expired(which, 31))
      return [plan.state().unpaidPeriods, plan.state().status]
    }
    expect(play(['paid', 'expired'])).toEqual([2, 'past_due'])
    expect(play(['expired', 'paid'])).toEqual([2, 'past_due'])
  })

  it('make all that came late no unpaid period, whether the money or the end is reported first', () => {
    const play = (reports: readonly ('late' | 'expired')[]) => {
      const plan = story(create({}))
      for (const n of [0, 10]) plan.look(n)
      for (const report of reports) report === 'late' ? plan.completeLate(0, 11) : plan.expired(0, 11)
      return [plan.state().unpaidPeriods, plan.state().status]
    }
    expect(play(['late', 'expired'])).toEqual([0, 'active'])
    expect(play(['expired', 'late'])).toEqual([0, 'active'])
  })

  it.each(['cancel', 'pause'] as const)('answer %s and the planned end alike, in one look or in two', whenUnpaid => {
    const expiresAt = day(25)
    const inTime = undecided({ whenUnpaid }, { expiresAt })
    inTime.expired(1, 21)
    inTime.look(26)
    const late = undecided({ whenUnpaid }, { expiresAt })
    late.look(26)
    late.expired(1, 26)
    late.look(26)
    expect([late.state().status, late.kinds]).toEqual([inTime.state().status, inTime.kinds])
  })
})

describe('a pause for want of payment', () => {
  const paused = () => {
    const plan = undecided({ whenUnpaid: 'pause' })
    plan.expired(1, 20)
    return plan
  }

  it('is undone by a payment', () => {
    const plan = paused()
    expect([plan.state().pausedAt, plan.state().pauseReason]).toEqual([day(20), 'unpaid'])
    plan.paid(1, 23)
    plan.look(23)
    expect([plan.state().pausedAt, plan.state().status, plan.orders.length]).toEqual([null, 'active', 3])
    expect(plan.kinds.filter(kind => ['paused', 'resumed', 'charged'].includes(kind))).toEqual(['paused', 'charged', 'resumed'])
  })

  it('is undone by the payment that is the last one too', () => {
    const plan = paused()
    plan.amend({ maxPeriods: 1 }, 21)
    plan.paid(1, 23)
    const { status, pausedAt, pauseReason } = plan.state()
    expect([status, pausedAt, pauseReason]).toEqual(['expired', null, null])
  })

  it('is not undone by one when it is the merchant`s own', () => {
    const plan = story(create({ whenUnpaid: 'pause' }))
    plan.look(0)
    plan.amend({ paused: true }, 1)
    plan.paid(0, 2)
    expect([plan.state().pausedAt, plan.state().pauseReason]).toEqual([day(1), 'merchant'])
  })

  it('that the merchant ends gives the plan all its periods again, also those that are reported later', () => {
    const plan = story(create({ whenUnpaid: 'pause', unpaidPeriodsMax: 3 }))
    for (const n of [0, 10, 20]) plan.look(n)
    plan.amend({ paused: true }, 21)
    plan.amend({ paused: false }, 22)
    plan.expired(0, 23)
    plan.expired(1, 23)
    expect([plan.state().unpaidPeriods, plan.state().pausedAt]).toEqual([0, null])
  })
})
