import type { SubscriptionBody } from '@ponte/contracts'

/** The next step of a plan by itself, and its time; null when there is none. */
export type NextStep =
  | { kind: 'paused' | 'pausedUnpaid' | 'ends' | 'expires' | 'charges' | 'trialEnds'; at: string }
  | { kind: 'waitsForAddress' | 'waits' | 'awaitsPayment' | 'manual' }
  | { kind: 'pausesUnpaid' | 'cancelsUnpaid'; periods: number }

/** In the order in which a merchant would act on them. */
export function nextSteps(subscription: SubscriptionBody): NextStep[] {
  const { status, paused_at, pause_reason, waiting_for, cancel_at, ends_at, next_charge_at, open_order_id, interval, trial_ends_at } =
    subscription
  if (status !== 'active' && status !== 'past_due') return []
  const steps: NextStep[] = []
  if (paused_at) steps.push({ kind: pause_reason === 'unpaid' ? 'pausedUnpaid' : 'paused', at: paused_at })
  if (waiting_for) steps.push({ kind: waiting_for === 'payout_address_required' ? 'waitsForAddress' : 'waits' })
  if (open_order_id) steps.push({ kind: 'awaitsPayment' })
  if (next_charge_at) steps.push({ kind: next_charge_at === trial_ends_at ? 'trialEnds' : 'charges', at: next_charge_at })
  else if (interval === null) steps.push({ kind: 'manual' })
  const { unpaid_periods_max: periods = 0, when_unpaid } = subscription
  if (status === 'past_due' && !paused_at && when_unpaid !== 'leave' && periods > 0)
    steps.push({ kind: when_unpaid === 'cancel' ? 'cancelsUnpaid' : 'pausesUnpaid', periods })
  if (ends_at) steps.push({ kind: ends_at === cancel_at ? 'ends' : 'expires', at: ends_at })
  return steps
}
