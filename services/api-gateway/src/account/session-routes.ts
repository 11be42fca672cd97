import { ApiError, type SessionBody } from '@ponte/contracts'
import type { Response } from 'express'
import { userIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import type { Action } from '../store/audit-log'
import type { SeenSession } from '../store/sessions'
import { type AccountDeps, actor, isFreshLogin, requireFreshLogin } from './changes'

type SessionDeps = Pick<AccountDeps, 'store' | 'now' | 'freshLoginMs' | 'provider'>

/** Where a user's login is in use, whatever merchants they belong to. */
export function sessionHandlers(deps: SessionDeps) {
  const { store, now } = deps
  const body = (res: Response, { id, providerId, startedAt, lastSeenAt, userAgent, network }: SeenSession): SessionBody => ({
    ...{ object: 'session', id, is_current: providerId === userIn(res).sessionId },
    ...{ started_at: startedAt.toISOString(), last_seen_at: lastSeenAt.toISOString(), user_agent: userAgent, network },
  })
  return handling({
    async listSessions(_asked, _req, res) {
      const found = await store.sessions.ofUser(userIn(res).id)
      res.json({ object: 'list', data: found.map(session => body(res, session)), has_more: false })
    },
    async endSession({ params: { id } }, _req, res) {
      const userId = userIn(res).id
      const found = await store.sessions.ofUserById(userId, id)
      if (!found) throw new ApiError('not_found', 'You have no such session.')
      const upTo = await endsUpTo(res, deps)
      if (upTo && found.startedAt > upTo) await requireFreshLogin(res, deps)
      await noteEnd(deps, res, 'session.end', id)
      await store.sessions.end({ id, userId }, now())
      res.json({ object: 'session', id, ended: true })
    },
    async endOtherSessions(_asked, _req, res) {
      const { id, sessionId } = userIn(res)
      if (sessionId === null) return void res.json({ object: 'ended_sessions', count: 0 })
      const upTo = await endsUpTo(res, deps)
      await noteEnd(deps, res, 'session.end_others', null)
      res.json({ object: 'ended_sessions', count: await store.sessions.endOthers(id, sessionId, now(), upTo) })
    },
  })
}

/** Null for a login of the last minutes, which ends all; an older one ends those that began before it, because a stolen session would put its user out. */
async function endsUpTo(res: Response, deps: SessionDeps): Promise<Date | null> {
  if (await isFreshLogin(res, deps)) return null
  const { loggedInAt } = userIn(res)
  if (loggedInAt === null) await requireFreshLogin(res, deps)
  return loggedInAt
}

/** Before it is done, to every merchant of the user: their owners learn of a thief who puts them out. */
async function noteEnd({ store }: SessionDeps, res: Response, action: Action, target: string | null): Promise<void> {
  for (const { merchantId } of await store.members.ofUser(userIn(res).id)) {
    const merchant = await store.merchants.find(merchantId)
    if (merchant) await store.auditLog.note(merchant, action, ['session'], actor(res), target)
  }
}
