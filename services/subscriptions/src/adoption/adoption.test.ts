import { advance, charge } from '../subscription/charges'
import { recordPaid } from '../subscription/order-outcome'
import { open, type Subscription } from '../subscription/subscription'
import { adopt, type ForgottenOrder, forgottenPeriod } from './adoption'

const START = new Date('2026-01-31T12:00:00.000Z')
const order = (is: Partial<ForgottenOrder> = {}): ForgottenOrder => ({
  ...{ id: 'forgotten', memo: 'ab', brl_amount: '49.90', external_ref: null, description: 'milk', metadata: {} },
  ...{ created_at: START.toISOString(), expires_at: '2026-02-01T12:00:00.000Z', ...is },
})
const paid = (id: string) => ({
  ...{ id, subscription_id: 's', external_ref: null, brl_amount: '49.90', usdc_amount: '9.0', tx_hash: '0x1', memo: 'ab' },
  paid_at: START.toISOString(),
})
const made = (interval: 'month' | null): Subscription =>
  open(
    {
      ...{ id: 's', merchantId: 'm', payerToken: 'token', externalRef: null, description: null, metadata: {}, brlCentavos: 4990n },
      ...{ plan: interval && { interval, intervalCount: 1 }, timezone: 'UTC', startAt: START, orderExpiresInS: 86_400 },
      ...{ maxPeriods: null, maxPeriodsCounts: 'payments' as const, trialPeriods: 0, expiresAt: null },
      dunning: { noticeS: 0, retryAfterS: [], unpaidPeriodsMax: 3, whenUnpaid: 'leave' as const },
    },
    START,
  )
const means = { orderId: 'issued', memo: 'cd', hasPayoutAddress: true }

describe('an order that the subscription asked for and does not have', () => {
  it('is the next charge of a merchant who charges at will, and counts when it is paid', () => {
    const before = charge(made(null), START, means).subscription
    expect(forgottenPeriod(before, order(), 0)).toBe(1)
    const after = adopt(before, order(), 1)
    expect(after.facts).toEqual([])
    const counted = recordPaid(after.subscription, paid('forgotten'), START)
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
    expect(recordPaid(subscription, paid('forgotten'), START).facts).toEqual([
      expect.objectContaining({ kind: 'charged' }),
      { kind: 'superseded', orderId: 'issued', deductedCentavos: 0n },
    ])
  })
  it('is owed no more when its period is paid', () => {
    const issued = advance(made('month'), START, means).subscription
    const before = recordPaid(issued, paid('issued'), START).subscription
    expect(adopt(before, order(), 0).facts).toEqual([{ kind: 'superseded', orderId: 'forgotten' }])
  })
  it('waits for its period to begin', () => {
    expect(() => adopt(made('month'), order(), 0)).toThrow('has not begun')
  })
})
