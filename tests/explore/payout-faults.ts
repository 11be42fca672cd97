import { accountRules } from '@ponte/api-gateway'
import { GUARD, type PayoutRules, type PayoutScope } from './payout'
import { smallInsider, smallPayout } from './scopes'

/** Faults of the payout guard, put back around the gateway's own rules, and what the walk must call each. */
export const payoutFaults: Record<string, { scope?: PayoutScope; rules?: PayoutRules; finds: RegExp }> = {
  'owners change at once': { scope: { ...smallPayout, guard: { ...GUARD, ownerDelayMs: 0 } }, finds: /the thief is an owner/ },
  'a signed address is in force at once': {
    scope: { ...smallPayout, guard: { ...GUARD, delayMs: 0 } },
    finds: /the thief's address is in force/,
  },
  'a change of owners waits for half of its time': {
    rules: {
      ...accountRules,
      activateOwnerChange: (members, ownership, at) => {
        const early = ownership.ownerChanges.map(change => ({
          ...change,
          activatesAt: new Date(change.activatesAt.getTime() - 129_600_000),
        }))
        return accountRules.activateOwnerChange(members, { ...ownership, ownerChanges: early }, at)
      },
    },
    finds: /is no owner any more|the thief is an owner/,
  },
  'what two owners agree on is in force at once': {
    scope: smallInsider,
    rules: {
      ...accountRules,
      approvePayout: (payout, id, owner, guard) => accountRules.approvePayout(payout, id, owner, { ...guard, delayMs: 0 }),
    },
    finds: /the thief's address is in force/,
  },
}
