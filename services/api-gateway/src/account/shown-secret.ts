import type { Operation } from '@ponte/contracts'
import type { Response } from 'express'
import { permissionsIn } from '../credentials/credentials'
import type { Merchant } from '../merchant/merchant'
import { showingOf } from '../merchant/secret'
import type { Store } from '../store'
import { type AccountDeps, actor, isFreshLogin, own } from './changes'

export const noteShown = (
  store: Store,
  merchant: Merchant,
  action: 'endpoint_secret.show_again' | 'webhook_secret.show_again',
  res: Response,
): Promise<void> => store.auditLog.note(merchant, action, ['webhook_secret'], actor(res))

/**
 * Whether this answer holds secrets: one that the operation makes, or, to a login of the last minutes, one of before. That it is shown again stands in the audit
 * log, in `account.changed` and in mails before it is answered, each time: of two sessions of a user one may be stolen.
 */
export async function shownSecret(
  deps: Pick<AccountDeps, 'store' | 'now' | 'freshLoginMs' | 'provider'>,
  res: Response,
  operation: Pick<Operation, 'secret' | 'owner'>,
): Promise<boolean> {
  // A payer's routes have none, and their callers no permissions.
  if (operation.secret === undefined) return false
  const showing = showingOf(operation, { permissions: permissionsIn(res), isSession: res.locals.credential === 'session' })
  if (showing !== 'to_a_fresh_login') return showing === 'made'
  if (!(await isFreshLogin(res, deps))) return false
  const merchant = await own(deps.store, res)
  await noteShown(
    deps.store,
    merchant,
    operation.owner === 'webhook-dispatcher' ? 'endpoint_secret.show_again' : 'webhook_secret.show_again',
    res,
  )
  return true
}
