import { Router } from 'express'
import { z } from 'zod'

export interface RefundComparison {
  /** The last one that was compared; null where there are no more. */
  next: string | null
  differences: { refund_id: string; detail: string }[]
}

/** For operators, on the inner port only. */
export function refundRoutes(compare: (after: string | null) => Promise<RefundComparison>): Router {
  const router = Router()
  router.get('/reconcile/refunds', async (req, res) => {
    const after = z.uuid().optional().safeParse(req.query.after)
    if (!after.success) return void res.status(400).json({ detail: 'after is the id of a refund.' })
    res.json(await compare(after.data ?? null))
  })
  return router
}
