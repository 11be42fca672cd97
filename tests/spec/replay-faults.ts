import { accountRules } from '@ponte/api-gateway'
import { subscriptionRules } from '@ponte/subscriptions'
import type { OrderRules } from '../explore/books'
import { orderFaults } from '../explore/order-faults'
import type { PeriodRules } from '../explore/period'
import { periodFaults } from '../explore/period-faults'
import { strangersOwnerFaults, strangersPlanFaults } from '../explore/strangers-faults'
import type { GuardRules } from './payout-traces'

type Subscription = subscriptionRules.Subscription
type Attempt = subscriptionRules.Attempt

const withAttempts = (plan: Subscription, put: (attempt: Attempt, index: number, all: readonly Attempt[]) => Attempt): Subscription => ({
  ...plan,
  charges: plan.charges.map(charge => ({ ...charge, attempts: charge.attempts.map(put) })),
})

/** Of the walk, by their names there. */
const ofWalk = <Rules>(faults: Readonly<Record<string, { rules: Rules }>>, ...names: string[]): Record<string, Rules> =>
  Object.fromEntries(
    names.map(name => {
      const fault = faults[name]
      if (!fault) throw new Error(`The walk has no fault "${name}".`)
      return [name, fault.rules]
    }),
  )

/** Faults of several networks, put back around the rules of orders, in which runs of spec/order.qnt must differ from them. */
export const replayedOrderFaults = ofWalk<OrderRules>(
  orderFaults,
  'expiry asks one network alone how far it is confirmed',
  'expiry asks for the network that is furthest',
  'expiry asks one network alone whether the order is watched',
  'blocks take back what another network has at their heights',
  'money on a network that the order does not offer counts for it',
  'a network that the order does not offer holds back its expiry',
  'an order that offers a network from now on expires without it',
  'of what came on a network that the order offers from now on, one payment counts',
)

/** Faults put back around the rules of plans, in which runs of spec/period.qnt must differ from them. The last two are in no scope of the walk. */
export const replayedPeriodFaults: Record<string, PeriodRules> = {
  ...ofWalk(
    { ...periodFaults, ...strangersPlanFaults },
    'a plan is cancelled at its boundary by our clock, whatever is out',
    'a plan is paused at its boundary by our clock, and a payment does not undo it',
    'an order is issued again while the one before can still be paid',
    'an order that expired counts as the end of its period, although another is out',
    'the other order of a paid period is left open',
  ),
  'what is missing is reckoned by the latest order alone': {
    ...subscriptionRules,
    advance: (known, at, means) => {
      const latestAlone = withAttempts(known, (one, index, all) => (index === all.length - 1 ? one : { ...one, receivedCentavos: 0n }))
      const { facts, subscription } = subscriptionRules.advance(latestAlone, at, means)
      const before = new Map(known.charges.flatMap(({ attempts }) => attempts).map(one => [one.orderId, one.receivedCentavos]))
      return {
        from: known,
        facts,
        subscription: withAttempts(subscription, one => ({ ...one, receivedCentavos: before.get(one.orderId) ?? 0n })),
      }
    },
  },
  'an older report of money takes the newer one’s place': {
    ...subscriptionRules,
    recordReceived: (known, received, at) =>
      subscriptionRules.recordReceived(
        withAttempts(known, one => ({ ...one, reportRevision: 0 })),
        received,
        at,
      ),
  },
}

/** Faults put back around the payout guard, in which runs of spec/payout.qnt must differ from it. The last three are in no scope of the walk. */
export const replayedPayoutFaults: Record<string, GuardRules> = {
  'owners change at once': {
    ...accountRules,
    decideMember: (members, ownership, id, role, request, guard) =>
      accountRules.decideMember(members, ownership, id, role, request, { ...guard, ownerDelayMs: 0 }),
  },
  'an address is held by no change of the owners': {
    ...accountRules,
    retimed: ({ pendingPayout, ...payout }, guard) =>
      accountRules.retimed({ ...payout, pendingPayout, ownerChanges: [], payoutHeldUntil: null }, guard),
  },
  ...ofWalk(strangersOwnerFaults, 'only who requested a change of owners may undo it'),
  'who is an owner now may undo, not who was when it was requested': {
    ...accountRules,
    undoOwnerChange: (members, ownership, id, by) => {
      const owners = accountRules.ownersAmong(members)
      const now = { ...ownership, ownerChanges: ownership.ownerChanges.map(change => ({ ...change, owners })) }
      const left = new Map(accountRules.undoOwnerChange(members, now, id, by).map(change => [change.id, change]))
      return ownership.ownerChanges.flatMap(change => {
        const kept = left.get(change.id)
        return kept ? [{ ...kept, owners: change.owners }] : []
      })
    },
  },
  'who became an owner just now can approve a payout address': {
    ...accountRules,
    approvePayout: (payout, id, owner, guard) => accountRules.approvePayout(payout, id, { ...owner, since: new Date(0) }, guard),
  },
  'an approval outlives the owner who gave it': {
    ...accountRules,
    payoutWithoutUser: (payout, userId) => (payout.pendingPayout?.requestedBy === userId ? { ...payout, pendingPayout: null } : payout),
  },
}
