import { Router } from 'express'
import type { Scheduler } from './scheduler'
import type { Store } from './store'

/** On the inner port, for a clock that was moved: looks at once for what is due, and answers when the next plan is. */
export const dueRoute = (store: Store, scheduler: Scheduler): Router =>
  Router().post('/due', async (_req, res) => {
    scheduler.wake()
    res.json({ next_at: (await store.subscriptions.nextAt())?.toISOString() ?? null })
  })
