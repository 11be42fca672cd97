import { openPlan, paidOrder } from '../../test/plan'
import { advance } from '../subscription/charges'
import { recordClosed, recordPaid } from '../subscription/order-outcome'
import type { Subscription } from '../subscription/subscription'
import { payerDue } from './payer-due'

const START = new Date('2026-01-31T12:00:00Z')
const later = (days: number) => new Date(START.getTime() + days * 86_400_000)
const minuteBefore = (days: number) => new Date(later(days).getTime() - 60_000)
const paused = (pauseReason: 'merchant' | 'unpaid') => ({ pausedAt: later(1), pauseReason })
const dunning = { noticeS: 0, retryAfterS: [259_200], unpaidPeriodsMax: 3, whenUnpaid: 'leave' as const }
const create = (interval: 'month' | null = 'month') =>
  openPlan({ startAt: START, plan: interval && { interval, intervalCount: 1 }, dunning })
const means = (orderId: string) => ({ orderId, memo: orderId, hasPayoutAddress: true })
/** As it is read once orders has opened what was asked for. */
const opened = (subscription: Subscription): Subscription => ({
  ...subscription,
  charges: subscription.charges.map(charge => ({ ...charge, attempts: charge.attempts.map(attempt => ({ ...attempt, reason: null })) })),
})
const asked = advance(create(), START, means('first')).subscription
const unpaid = recordClosed(opened(asked), 'first', 'expired', later(1)).subscription

describe('what a payer is asked for', () => {
  it.each([
    ['nothing before the first period', create(), later(-1), null],
    ['the order that is on its way, without a link', asked, START, { brlCentavos: 4990n, orderId: null, canBeAsked: false }],
    ['the open order', opened(asked), START, { brlCentavos: 4990n, orderId: 'first', canBeAsked: false }],
    [
      'a period whose order ended unpaid, which can be asked for again',
      unpaid,
      later(1),
      { brlCentavos: 4990n, orderId: null, canBeAsked: true },
    ],
    ['what no order can ask for in the last minutes of the period', unpaid, minuteBefore(28), { brlCentavos: 4990n, canBeAsked: false }],
    ['nothing while its merchant paused the plan', { ...unpaid, ...paused('merchant') }, later(1), null],
    ['a payment that undoes the pause of an unpaid plan', { ...unpaid, ...paused('unpaid') }, later(1), { canBeAsked: true }],
    [
      'the same in a period of which nothing was asked yet',
      { ...unpaid, ...paused('unpaid'), periodIndex: 1 },
      later(30),
      { brlCentavos: 4990n, orderId: null, canBeAsked: true },
    ],
    ['nothing in the last minutes of such a period', { ...unpaid, ...paused('unpaid'), periodIndex: 1 }, minuteBefore(59), null],
    ['a period that waits for the merchant', { ...unpaid, awaiting: 'payout_address' as const }, later(1), { canBeAsked: false }],
    ['nothing once it is paid', recordPaid(opened(asked), paidOrder('first'), later(0.5)).subscription, later(0.5), null],
    ['nothing of a cancelled one', { ...opened(asked), status: 'cancelled' as const }, START, null],
    ['nothing that its merchant did not charge', create(null), START, null],
  ])('is %s', (_, subscription, at, due) => {
    if (due === null) expect(payerDue(subscription, at)).toBeNull()
    else expect(payerDue(subscription, at)).toMatchObject(due)
  })

  it('is no further order once a period had twenty', () => {
    const charges = unpaid.charges.map(charge => ({ ...charge, attempts: Array(20).fill(charge.attempts[0]) }))
    expect(payerDue({ ...unpaid, charges }, later(1))).toMatchObject({ canBeAsked: false })
  })
})
