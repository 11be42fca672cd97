import { Router } from 'express'
import type { Status } from './status'

/** For operators, on the inner port only. */
export function routes(status: () => Promise<Status>): Router {
  const router = Router()
  router.get('/status', async (_req, res) => {
    res.json(await status())
  })
  return router
}
