import { openPlan, paidOrder } from '../../test/plan'
import { advance, charge } from '../subscription/charges'
import { recordPaid } from '../subscription/order-outcome'
import type { Subscription } from '../subscription/subscription'
import { adopt, type ForgottenOrder, forgottenPeriod } from './adoption'

const START = new Date('2026-01-31T12:00:00.000Z')
const order = (is: Partial<ForgottenOrder> = {}): ForgottenOrder => ({
  ...{ id: 'forgotten', memo: 'ab', brl_amount: '49.90', external_ref: null, description: 'milk', metadata: {} },
  ...{ created_at: START.toISOString(), expires_at: '2026-02-01T12:00:00.000Z', ...is },
})
const made = (interval: 'month' | null): Subscription =>
  openPlan({ startAt: START, payerToken: 'token', plan: interval && { interval, intervalCount: 1 } })
const means = { orderId: 'issued', memo: 'cd', hasPayoutAddress: true }

describe('an order that the subscription asked for and does not have', () => {
  it('is the next charge of a merchant who charges at will, and counts when it is paid', () => {
    const before = charge(made(null), START, means).subscription
    expect(forgottenPeriod(before, order(), 0)).toBe(1)
    const after = adopt(before, order(), 1)
    expect(after.facts).toEqual([])
    const counted = recordPaid(after.subscription, paidOrder('forgotten'), START)
    expect([counted.subscription.chargesDone, counted.facts.map(({ kind }) => kind)]).toEqual([1, ['charged']])
  })
  it('stands beside the order that its period has by now; the one that is paid counts, and the other is owed no more', () => {
    const before = advance(made('month'), START, means).subscription
    expect(forgottenPeriod(before, order({ created_at: '2026-02-27T00:00:00.000Z' }), 0)).toBe(0)
    const { subscription } = adopt(before, order(), 0)
    expect(subscription.charges[0]?.attempts.map(({ orderId, status }) => [orderId, status])).toEqual([
      ['issued', 'open'],
      ['forgotten', 'expired'],
    ])
    expect(recordPaid(subscription, paidOrder('forgotten'), START).facts).toEqual([
      expect.objectContaining({ kind: 'charged' }),
      { kind: 'superseded', orderId: 'issued', deductedCentavos: 0n },
    ])
  })
  it('is owed no more when its period is paid', () => {
    const issued = advance(made('month'), START, means).subscription
    const before = recordPaid(issued, paidOrder('issued'), START).subscription
    expect(adopt(before, order(), 0).facts).toEqual([{ kind: 'superseded', orderId: 'forgotten' }])
  })
  it('waits for its period to begin', () => {
    expect(() => adopt(made('month'), order(), 0)).toThrow('has not begun')
  })
})
