import type { Rules } from './world'

type Plan = Parameters<Rules['subscriptions']['advance']>[0]
type Change = ReturnType<Rules['subscriptions']['advance']>

const leaving =
  <Rest extends readonly unknown[], Done extends Change>(rule: (plan: Plan, ...rest: Rest) => Done) =>
  (plan: Plan, ...rest: Rest): Done => {
    const change = rule({ ...plan, dunning: { ...plan.dunning, whenUnpaid: 'leave' } }, ...rest)
    return { ...change, subscription: { ...change.subscription, dunning: plan.dunning } }
  }

/** Faults that once were, put back into the rules: the oracle must find each. */
export const bugs: Record<string, (rules: Rules) => Rules> = {
  'a charge has a life, not an end: a missed period is billed afterwards': rules => ({
    ...rules,
    orders: {
      ...rules.orders,
      wantedCharge: (request, occurredAt) => ({ ...rules.orders.wantedCharge(request, occurredAt), endsAt: new Date(8.64e15) }),
      hasLapsed: () => false,
    },
  }),
  'a payout address that was taken away is paid all the same': rules => ({
    ...rules,
    orders: {
      ...rules.orders,
      newestTerms: (request, known) => {
        const newest = rules.orders.newestTerms(request, known)
        return newest.payout_address === null ? request : newest
      },
    },
  }),
  'the end of a plan names no more than one order, and forgets it when money is on its way': rules => ({
    ...rules,
    orders: { ...rules.orders, release: () => null },
  }),
  'what came for an order that was not paid is asked for again': rules => ({
    ...rules,
    subscriptions: {
      ...rules.subscriptions,
      recordReceived: subscription => ({ from: subscription, subscription, facts: [] }),
    },
  }),
  'new terms are asked for while the order that they replace can still be paid': rules => ({
    ...rules,
    subscriptions: {
      ...rules.subscriptions,
      amend(...command) {
        const change = rules.subscriptions.amend(...command)
        const charges = change.subscription.charges.map(charge => ({
          ...charge,
          attempts: charge.attempts.map(attempt => (attempt.replacedAt ? { ...attempt, status: 'cancelled' as const } : attempt)),
        }))
        return { ...change, subscription: { ...change.subscription, charges } }
      },
    },
  }),
  'a trial asks for money': rules => ({
    ...rules,
    subscriptions: { ...rules.subscriptions, open: (input, at) => ({ ...rules.subscriptions.open(input, at), lastPaidIndex: -1 }) },
  }),
  'a plan that is cancelled at the end of its period goes on': rules => ({
    ...rules,
    subscriptions: {
      ...rules.subscriptions,
      amend(...command) {
        const change = rules.subscriptions.amend(...command)
        return { ...change, subscription: { ...change.subscription, cancelAt: null } }
      },
    },
  }),
  'a period that is over counts as unpaid before orders reports it: who paid in time loses the plan': rules => ({
    ...rules,
    subscriptions: {
      ...rules.subscriptions,
      advance(plan, at, means) {
        const change = rules.subscriptions.advance(plan, at, means)
        const { dunning, charges, unpaidPeriods, periodIndex, pausedAt, status } = change.subscription
        const undecided = charges.filter(charge => charge.status === 'skipped' && charge.attempts.some(each => each.status === 'open'))
        const isOver = periodIndex > plan.periodIndex && unpaidPeriods + undecided.length >= dunning.unpaidPeriodsMax
        const isActing = dunning.whenUnpaid !== 'leave' && pausedAt === null && ['active', 'past_due'].includes(status)
        if (!isOver || !isActing) return change
        if (dunning.whenUnpaid === 'pause') {
          const subscription = { ...change.subscription, pausedAt: at, pauseReason: 'unpaid' as const }
          return { ...change, subscription, facts: [...change.facts, { kind: 'paused' }] }
        }
        const ended = rules.subscriptions.end(change.subscription, 'cancelled', at)
        return { ...change, subscription: ended.subscription, facts: [...change.facts, ...ended.facts] }
      },
    },
  }),
  'what a merchant changes of dunning is not kept': rules => ({
    ...rules,
    subscriptions: {
      ...rules.subscriptions,
      amend(...command) {
        const change = rules.subscriptions.amend(...command)
        return { ...change, subscription: { ...change.subscription, dunning: command[0].dunning } }
      },
    },
  }),
  'an unpaid plan is left, whatever its merchant chose': rules => ({
    ...rules,
    subscriptions: {
      ...rules.subscriptions,
      advance: leaving(rules.subscriptions.advance),
      charge: leaving(rules.subscriptions.charge),
      recordClosed: leaving(rules.subscriptions.recordClosed),
      recordReceived: leaving(rules.subscriptions.recordReceived),
      recordRefused: leaving(rules.subscriptions.recordRefused),
      amend(plan, { dunning, ...amendment }, ...rest) {
        const change = leaving(rules.subscriptions.amend)(plan, amendment, ...rest)
        return { ...change, subscription: { ...change.subscription, dunning: dunning ?? plan.dunning } }
      },
    },
  }),
  'a merchant without a payout address holds the period for ever': rules => ({
    ...rules,
    subscriptions: { ...rules.subscriptions, recordRefused: subscription => ({ from: subscription, subscription, facts: [] }) },
  }),
}
