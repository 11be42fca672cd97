import { ApiError, type SessionBody } from '@ponte/contracts'
import type { Response } from 'express'
import { userIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import type { SeenSession } from '../store/sessions'
import type { AccountDeps } from './changes'

/** Where a user's login is in use, whatever merchants they belong to. */
export function sessionHandlers({ store, now }: Pick<AccountDeps, 'store' | 'now'>) {
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
      if (!(await store.sessions.end({ id, userId: userIn(res).id }, now()))) throw new ApiError('not_found', 'You have no such session.')
      res.json({ object: 'session', id, ended: true })
    },
    async endOtherSessions(_asked, _req, res) {
      const { id, sessionId } = userIn(res)
      const count = sessionId === null ? 0 : await store.sessions.endOthers(id, sessionId, now())
      res.json({ object: 'ended_sessions', count })
    },
  })
}
