import { Router } from 'express'
import { z } from 'zod'
import { republish } from '../../bus/outbox-relay'
import type { Database } from '../../database/database'

const moment = z.iso.datetime({ offset: true })
const query = z.strictObject({ since: moment, until: moment.optional() })

/**
 * For operators, on the inner port only: publishes again what this service has published since a moment, for another one whose database was restored
 * to then. Event ids stay, so that the inboxes of all others drop what they know.
 */
export function republishRoutes(database: Database): Router {
  const router = Router()
  router.post('/republish', async (req, res) => {
    const asked = query.safeParse(req.query)
    if (!asked.success)
      return void res
        .status(400)
        .json({ detail: 'Name the moment: since=2026-11-22T14:00:00Z, a little before the one restored to, and until=… where it ends.' })
    const events = await republish(
      database,
      new Date(asked.data.since),
      asked.data.until === undefined ? new Date() : new Date(asked.data.until),
    )
    if (events === null) return void res.status(404).json({ detail: 'This service publishes no events.' })
    res.json({ events })
  })
  return router
}
