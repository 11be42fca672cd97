import { formatUsdc } from '@ponte/contracts'
import { Router } from 'express'
import type { Relay } from './relay'
import type { Status } from './scan/status'

/** For operators, on the inner port only. */
export function routes(status: () => Promise<Status>, relay: Relay): Router {
  const router = Router()
  router.get('/status', async (_req, res) => {
    res.json(await status())
  })
  router.get('/deposits', async (_req, res) => {
    const { relayer, waiting, addresses, total, blocked } = await relay.held()
    res.json({
      relayer_address: relayer,
      count: addresses,
      total: formatUsdc(total),
      blocked,
      oldest_first: waiting.map(one => ({
        order_id: one.orderId,
        deposit_address: one.address,
        amount: formatUsdc(one.heldUnits),
        held_since: one.heldSince.toISOString(),
        age_seconds: Math.max(0, Math.floor((Date.now() - one.heldSince.getTime()) / 1_000)),
        blocked_reason: one.blockedReason,
        failures: one.failures,
        retry_at: one.retryAt?.toISOString() ?? null,
      })),
    })
  })
  return router
}
