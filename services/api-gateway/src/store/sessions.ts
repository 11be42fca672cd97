import type { Database } from '@ponte/service-kit'
import type { PrismaClient } from '../generated/client'

export interface SeenSession {
  id: string
  providerId: string
  userId: string
  startedAt: Date
  lastSeenAt: Date
  userAgent: string | null
  network: string
}

const SHOWN_MAX = 50
/** A session that is not seen for so long is forgotten, and one that logged in before that is over. */
export const SESSION_KEPT_MS = 90 * 86_400_000
const FORGET_MAX = 1_000

// Raw, because two requests of a new session come at one moment. An ended one stays as it is.
const SEE = `
  INSERT INTO sessions AS known (id, provider_id, user_id, started_at, last_seen_at, user_agent, network)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (provider_id) DO UPDATE SET last_seen_at = EXCLUDED.last_seen_at, user_agent = EXCLUDED.user_agent, network = EXCLUDED.network
  WHERE known.ended_at IS NULL`

// Raw, because the latest time stays.
const MARK_OTHERS = `
  UPDATE sessions SET ended_others_at = greatest(ended_others_at, $3::timestamptz) WHERE user_id = $1 AND provider_id = $2`

/** Sessions of users that were seen at work, and those that were ended. */
export function sessionStore(database: Database, prisma: PrismaClient) {
  return {
    find: (providerId: string) => prisma.session.findUnique({ where: { providerId } }),
    see: async ({ id, providerId, userId, startedAt, lastSeenAt, userAgent, network }: SeenSession): Promise<void> =>
      void (await database.query(SEE, [id, providerId, userId, startedAt, lastSeenAt, userAgent, network])),
    /** What logged in until then was ended by the user in another session. */
    async othersEndedAt(userId: string): Promise<Date | null> {
      const { _max } = await prisma.session.aggregate({ where: { userId }, _max: { endedOthersAt: true } })
      return _max.endedOthersAt
    },
    ofUser: (userId: string) =>
      prisma.session.findMany({ where: { userId, endedAt: null }, orderBy: [{ lastSeenAt: 'desc' }, { id: 'desc' }], take: SHOWN_MAX }),
    /** One that is not ended. */
    ofUserById: (userId: string, id: string) => prisma.session.findFirst({ where: { userId, id, endedAt: null } }),
    /** False when there is no such session. */
    async end(where: { id: string; userId: string } | { providerId: string }, at: Date): Promise<boolean> {
      const { count } = await prisma.session.updateMany({ where: { ...where, endedAt: null }, data: { endedAt: at } })
      return count > 0
    },
    /**
     * Ends every session of the user but this one, also those that were never seen; with `upTo` those that began until then. Not in one transaction: one that is
     * seen for the first time meanwhile either finds the mark after its row was written, or is there when the others are ended.
     */
    async endOthers(userId: string, providerId: string, at: Date, upTo: Date | null = null): Promise<number> {
      await database.query(MARK_OTHERS, [userId, providerId, upTo ?? at])
      const others = { userId, endedAt: null, providerId: { not: providerId }, ...(upTo ? { startedAt: { lte: upTo } } : {}) }
      const { count } = await prisma.session.updateMany({ where: others, data: { endedAt: at } })
      return count
    },
    /** Forgets a part of those that were not seen for long. */
    async forget(now: Date): Promise<void> {
      await database.query(
        'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE last_seen_at < $1 ORDER BY last_seen_at LIMIT $2)',
        [new Date(now.getTime() - SESSION_KEPT_MS), FORGET_MAX],
      )
    },
  }
}
