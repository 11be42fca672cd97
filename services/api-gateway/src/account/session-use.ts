import { ApiError } from '@ponte/contracts'
import { uuidv7At } from '@ponte/service-kit'
import type { SessionUser } from '../credentials/session-token'
import type { Store } from '../store'
import { SESSION_KEPT_MS } from '../store/sessions'

const SEEN_EVERY_MS = 60_000
const USER_AGENT_MAX = 200

interface Use {
  userAgent: string | undefined
  network: string
}

/** Notes that a session is at work, once a minute. Throws `invalid_jwt` when it was ended: its token is good for as long as it was made for. */
export async function noteUse(sessions: Store['sessions'], user: SessionUser, { userAgent, network }: Use, at: Date): Promise<void> {
  const { sessionId: providerId, id: userId, loggedInAt } = user
  if (providerId === null) return
  const known = await sessions.find(providerId)
  if (known?.endedAt) throw ended()
  if (known && at.getTime() - known.lastSeenAt.getTime() < SEEN_EVERY_MS) return
  const startedAt = loggedInAt ?? at
  if (!known && (await isOver(sessions, userId, startedAt, at))) throw ended()
  await sessions.see({
    ...{ id: uuidv7At(at), providerId, userId, startedAt, lastSeenAt: at },
    ...{ userAgent: userAgent?.slice(0, USER_AGENT_MAX) ?? null, network },
  })
  // All others may have been ended between the look and the row.
  if (known || !(await isOver(sessions, userId, startedAt, at))) return
  await sessions.end({ providerId }, at)
  throw ended()
}

/** Of a session that was never seen, or was forgotten. */
async function isOver(sessions: Store['sessions'], userId: string, startedAt: Date, at: Date): Promise<boolean> {
  const othersEndedAt = await sessions.othersEndedAt(userId)
  return at.getTime() - startedAt.getTime() > SESSION_KEPT_MS || (othersEndedAt !== null && startedAt <= othersEndedAt)
}

const ended = () => new ApiError('invalid_jwt', 'This session was ended. Log in again.')
