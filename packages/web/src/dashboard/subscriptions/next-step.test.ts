import type { SubscriptionBody } from '@ponte/contracts'
import { nextSteps } from './next-step'

const plan = (fields: Partial<SubscriptionBody>) =>
  ({
    status: 'active',
    interval: 'month',
    open_order_id: null,
    next_charge_at: null,
    unpaid_periods_max: 3,
    when_unpaid: 'pause',
    ...fields,
  }) as SubscriptionBody
const at = '2026-02-01T12:00:00.000Z'

it.each([
  ['a plan that goes on', { next_charge_at: at }, [{ kind: 'charges', at }]],
  ['one on trial', { next_charge_at: at, trial_ends_at: at }, [{ kind: 'trialEnds', at }]],
  ['one that is being paid', { open_order_id: 'o', next_charge_at: at }, [{ kind: 'awaitsPayment' }, { kind: 'charges', at }]],
  ['one that its merchant paused', { paused_at: at, pause_reason: 'merchant' as const }, [{ kind: 'paused', at }]],
  ['one that no one pays', { status: 'past_due' as const, paused_at: at, pause_reason: 'unpaid' as const }, [{ kind: 'pausedUnpaid', at }]],
  [
    'one that will be paused',
    { status: 'past_due' as const, next_charge_at: at },
    [
      { kind: 'charges', at },
      { kind: 'pausesUnpaid', periods: 3 },
    ],
  ],
  ['one that goes on whatever is paid', { status: 'past_due' as const, when_unpaid: 'leave' as const }, []],
  ['one whose merchant has no payout address', { waiting_for: 'payout_address_required' }, [{ kind: 'waitsForAddress' }]],
  ['one that ends with its period', { next_charge_at: null, cancel_at: at, ends_at: at }, [{ kind: 'ends', at }]],
  ['one that ends with its last period, or at its time', { next_charge_at: null, ends_at: at }, [{ kind: 'expires', at }]],
  ['one that ends before its period does', { cancel_at: '2026-02-09T12:00:00.000Z', ends_at: at }, [{ kind: 'expires', at }]],
  ['one without a calendar', { interval: null }, [{ kind: 'manual' }]],
  ['one that has ended', { status: 'cancelled' as const, next_charge_at: at }, []],
])('%s', (_, fields, steps) => {
  expect(nextSteps(plan(fields))).toEqual(steps)
})
