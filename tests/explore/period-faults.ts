import { subscriptionRules } from '@ponte/subscriptions'
import type { PeriodRules, PeriodScope } from './period'

export interface PeriodFault {
  rules: PeriodRules
  whenUnpaid: PeriodScope['whenUnpaid']
  unpaidPeriodsMax?: number
  /** What the walk must call it. */
  finds: RegExp
}

const { advance, end, isLive, openAttempt, recordClosed, recordPaid } = subscriptionRules

/** Faults that plans once had, or that are easily made, put back around the service's own rules. */
export const periodFaults: Record<string, PeriodFault> = {
  'a plan is cancelled at its boundary by our clock, whatever is out': {
    whenUnpaid: 'cancel',
    finds: /is cancelled while the payment of order \d/,
    rules: {
      ...subscriptionRules,
      advance: (known, at, means) => {
        const change = advance(known, at, means)
        const isOver = change.subscription.charges.some(charge => charge.status === 'skipped' && openAttempt(charge))
        if (!isOver || !isLive(change.subscription)) return change
        const ended = end(change.subscription, 'cancelled', at)
        return { ...change, subscription: ended.subscription, facts: [...change.facts, ...ended.facts] }
      },
    },
  },
  'a plan is paused at its boundary by our clock, and a payment does not undo it': {
    whenUnpaid: 'pause',
    finds: /paused as unpaid while|stays paused as unpaid/,
    rules: {
      ...subscriptionRules,
      advance: (known, at, means) => {
        const change = advance(known, at, means)
        const isOver = change.subscription.charges.some(charge => charge.status === 'skipped' && openAttempt(charge))
        if (!isOver || !isLive(change.subscription) || change.subscription.pausedAt !== null) return change
        const paused = { ...change.subscription, pausedAt: at, pauseReason: 'unpaid' as const }
        return { ...change, subscription: paused, facts: [...change.facts, { kind: 'paused' as const }] }
      },
    },
  },
  'a second paid order of a period counts again': {
    whenUnpaid: 'leave',
    finds: /a period is charged twice/,
    rules: {
      ...subscriptionRules,
      recordPaid: (known, order, at) => {
        const open = known.charges.map(charge => (charge.status === 'paid' ? { ...charge, status: 'open' as const } : charge))
        return recordPaid({ ...known, charges: open }, order, at)
      },
    },
  },
  'a report that is read again counts again': {
    whenUnpaid: 'leave',
    finds: /a period is charged twice/,
    rules: {
      ...subscriptionRules,
      recordPaid: (known, order, at) => {
        const isKnown = known.charges.some(
          ({ status, attempts }) => status === 'paid' && attempts.some(({ orderId }) => orderId === order.id),
        )
        if (!isKnown) return recordPaid(known, order, at)
        const open = known.charges.map(charge => (charge.status === 'paid' ? { ...charge, status: 'open' as const } : charge))
        return recordPaid({ ...known, charges: open }, order, at)
      },
    },
  },
  'a payment after the end of its plan is not counted': {
    whenUnpaid: 'cancel',
    finds: /a paid period is not charged/,
    rules: {
      ...subscriptionRules,
      recordPaid: (known, order, at) => (isLive(known) ? recordPaid(known, order, at) : { from: known, subscription: known, facts: [] }),
    },
  },
  'an order is issued again while the one before can still be paid': {
    whenUnpaid: 'leave',
    finds: /of the same period can still be paid/,
    rules: {
      ...subscriptionRules,
      advance: (known, at, means) => {
        const lost = known.charges.map(charge => ({
          ...charge,
          attempts: charge.attempts.map(one => ({ ...one, status: 'expired' as const })),
        }))
        const change = advance({ ...known, charges: lost }, at, means)
        return change.facts.some(({ kind }) => kind === 'charge_requested') ? change : advance(known, at, means)
      },
    },
  },
  'an order that expired counts as the end of its period, although another is out': {
    whenUnpaid: 'cancel',
    unpaidPeriodsMax: 2,
    finds: /is cancelled while the payment of order \d/,
    rules: {
      ...subscriptionRules,
      recordClosed: (known, order, outcome, at) => {
        const change = recordClosed(known, order, outcome, at)
        if (outcome !== 'expired' || !isLive(change.subscription) || change.subscription.periodIndex < 1) return change
        const ended = end(change.subscription, 'cancelled', at)
        return { ...change, subscription: ended.subscription, facts: [...change.facts, ...ended.facts] }
      },
    },
  },
}
