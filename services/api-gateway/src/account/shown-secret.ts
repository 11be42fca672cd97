import type { Operation } from '@ponte/contracts'
import type { Response } from 'express'
import { mayDo, userIn } from '../credentials/credentials'
import { type AccountDeps, actor, isFreshLogin, own } from './changes'

/**
 * Whether this answer holds secrets: one that the operation makes, or, to a login of the last minutes, one of before. That it is shown again stands in the audit
 * log, in `account.changed` and in mails before it is answered: of a merchant's own once for each login, of an endpoint each time.
 */
export async function shownSecret(
  deps: Pick<AccountDeps, 'store' | 'now' | 'freshLoginMs' | 'provider'>,
  res: Response,
  { secret, owner }: Pick<Operation, 'secret' | 'owner'>,
): Promise<boolean> {
  const isOfEndpoint = owner === 'webhook-dispatcher'
  if (secret === undefined || !mayDo(res, isOfEndpoint ? 'endpoints:write' : 'secrets:write')) return false
  if (secret === 'made') return true
  if (res.locals.credential !== 'session' || !(await isFreshLogin(res, deps))) return false
  const merchant = await own(deps.store, res)
  // A secret that was replaced meanwhile is another one.
  const since = new Date(Math.max(merchant.updatedAt.getTime(), userIn(res).loggedInAt?.getTime() ?? 0))
  const action = isOfEndpoint ? 'endpoint_secret.show_again' : 'webhook_secret.show_again'
  if (isOfEndpoint || !(await deps.store.auditLog.wasNoted(merchant.id, action, userIn(res).id, since)))
    await deps.store.auditLog.note(merchant, action, ['webhook_secret'], actor(res))
  return true
}
