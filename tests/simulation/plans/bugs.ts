import type { Rules } from './world'

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
  'a merchant without a payout address holds the period for ever': rules => ({
    ...rules,
    subscriptions: { ...rules.subscriptions, recordRefused: subscription => ({ from: subscription, subscription, facts: [] }) },
  }),
}
