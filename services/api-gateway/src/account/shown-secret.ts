import type { Operation } from '@ponte/contracts'
import type { Response } from 'express'
import { permissionsIn, userIn } from '../credentials/credentials'
import { rateLimited, type Verdict } from '../limits/rate-limit'
import type { Merchant } from '../merchant/merchant'
import { showingOf } from '../merchant/secret'
import type { Shown } from '../owners/forwarding'
import type { Store } from '../store'
import { type AccountDeps, actor, isFreshLogin, own } from './changes'
import { merchantIdIn, presentMembership } from './membership'

export const noteShown = (
  store: Store,
  merchant: Merchant,
  action: 'endpoint_secret.show_again' | 'webhook_secret.show_again',
  res: Response,
  target: string | null = null,
): Promise<void> => store.auditLog.note(merchant, action, ['webhook_secret'], actor(res), target)

/** Rows that nothing was changed for are counted by this name. */
export const unchangedBucket = (merchantId: string, res: Response): string =>
  `${merchantId} ${res.locals.user ? userIn(res).id : 'api_key'}`

export function refuseBeyond(verdict: Verdict): void {
  if (verdict.remaining > 0) return
  throw rateLimited(verdict, `${verdict.limit} requests were refused, repeated or shown a secret within a minute`)
}

/**
 * Whether this answer holds secrets: one that the operation makes, or, to a login of the last minutes, one of before. That it is shown again stands in the audit
 * log, in `account.changed` and in mails before it is answered, each time: of two sessions of a user one may be stolen.
 */
export async function shownSecret(
  deps: Pick<AccountDeps, 'store' | 'now' | 'freshLoginMs' | 'provider' | 'countUnchanged'>,
  res: Response,
  operation: Pick<Operation, 'secret' | 'owner'>,
): Promise<Shown> {
  const unnoted = (isShown: boolean): Shown => ({ isShown, note: async () => undefined })
  // A payer's routes have none, and their callers no permissions.
  if (operation.secret === undefined) return unnoted(false)
  const showing = showingOf(operation, { permissions: permissionsIn(res), isSession: res.locals.credential === 'session' })
  if (showing !== 'to_a_fresh_login') return unnoted(showing === 'made')
  if (!(await isFreshLogin(res, deps))) return unnoted(false)
  // The provider takes its time, and a member may have been removed meanwhile.
  if (!(await presentMembership(deps.store, res))) return unnoted(false)
  const bucket = unchangedBucket(merchantIdIn(res), res)
  refuseBeyond(deps.countUnchanged(bucket, 0))
  return {
    isShown: true,
    async note(target) {
      deps.countUnchanged(bucket, 1)
      await noteShown(
        deps.store,
        await own(deps.store, res),
        operation.owner === 'webhook-dispatcher' ? 'endpoint_secret.show_again' : 'webhook_secret.show_again',
        res,
        target,
      )
    },
  }
}
