import { Router } from 'express'
import { z } from 'zod'
import type { Store } from './store'

const query = z.strictObject({ seconds: z.coerce.number().int().min(0).max(100_000_000) })

/** Of deployments for tests, on the inner port: brings what waits forward, as if so much time had passed, and answers when the next of it is tried. */
export function hurryRoute(store: Store, due: () => void): Router {
  const router = Router()
  router.post('/hurry', async (req, res) => {
    const asked = query.safeParse(req.query)
    if (!asked.success) return void res.status(400).json({ detail: 'seconds is a whole number.' })
    const inS = await store.deliveries.hurry(asked.data.seconds)
    due()
    res.json({ next_in_s: inS })
  })
  return router
}
