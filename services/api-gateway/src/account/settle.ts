import { retryConflicts } from '@ponte/service-kit'
import { waitAnew } from '../merchant/merchant'
import { activatePayoutChanges } from './payout-routes'
import { activateOwnerChanges, type TeamDeps } from './team'

/** Puts the changes in force that have waited long enough, unless the database went back: what waits in it may have been cancelled since. */
export async function settleChanges(deps: TeamDeps): Promise<void> {
  await heedRestore(deps)
  await activateOwnerChanges(deps)
  await activatePayoutChanges(deps.store, deps.now)
}

/** Lets what waits in a database that went back wait its whole time again, and mails each. Cut short, it begins again. */
async function heedRestore({ store, now, payoutGuard }: TeamDeps): Promise<void> {
  if (await store.history.isBroken())
    for (const id of await store.merchants.waiting())
      for (const [name, action] of [
        ['pending_owner_change', 'member.update'],
        ['pending_payout_change', 'merchant.update'],
      ] as const)
        await retryConflicts(async () => {
          const merchant = await store.merchants.find(id)
          const change = merchant && waitAnew(merchant, now(), payoutGuard)
          if (!change?.changed.includes(name)) return
          await store.merchants.update({ ...change, changed: [name] }, action, { userId: 'ponte', requestId: 'restore', network: null })
        })
  await store.history.note()
}
