import { retryConflicts } from '@ponte/service-kit'
import { atNextVersion, waitAnew } from '../merchant/merchant'
import type { Action } from '../store/audit-log'
import { activatePayoutChanges } from './payout-routes'
import { activateOwnerChanges, type TeamDeps } from './team'

/** Puts the changes in force that have waited long enough, unless the database went back: what waits in it may have been cancelled since. */
export async function settleChanges(deps: TeamDeps): Promise<void> {
  await heedRestore(deps)
  try {
    await activateOwnerChanges(deps)
  } finally {
    await activatePayoutChanges(deps.store, deps.now)
  }
}

const BY_RESTORE = { userId: 'ponte', requestId: 'restore', network: null }
const actionOf = (changed: string): Action => (changed === 'pending_owner_change' ? 'member.update' : 'merchant.update')

/** Lets what waits in a database that went back wait its whole time again, and mails each. Cut short, it begins again. */
async function heedRestore({ store, now, payoutGuard }: TeamDeps): Promise<void> {
  if (await store.history.isBroken())
    for (const id of await store.merchants.waiting()) {
      const waits = await retryConflicts(async () => {
        const merchant = await store.merchants.find(id)
        const change = merchant && waitAnew(merchant, now(), payoutGuard)
        const [first, ...more] = change?.changed ?? []
        if (!change || !first) return undefined
        await store.merchants.update({ ...change, changed: [first] }, actionOf(first), BY_RESTORE)
        return { merchant: change.merchant, more }
      })
      // A mail for each; the owners' is not in that of the payout address.
      if (!waits) continue
      for (const name of waits.more) {
        const { merchant, event } = atNextVersion(waits.merchant)
        await store.merchants.update({ merchant, events: [event], changed: [name] }, actionOf(name), BY_RESTORE)
      }
    }
  await store.history.note()
}
