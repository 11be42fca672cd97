import { formatUsdc } from '@ponte/contracts'
import type { Database } from '@ponte/service-kit'
import { Router } from 'express'
import type { ChainListenerConfig } from './config'
import { payableStore } from './relay'
import type { Status } from './scan/status'

const LISTED_MAX = 1_000

export function routes(status: () => Promise<Status>): Router {
  const router = Router()
  router.get('/status', async (_req, res) => {
    res.json(await status())
  })
  return router
}

/** Waiting sweeps, and the accounts that pay for gas: for operators, of the listener and of the relayer. */
export function depositRoutes(
  database: Database,
  config: ChainListenerConfig,
  accounts: () => Promise<{ sweeps: string | null; signatures: string | null }>,
): Router {
  const payables = payableStore(database, config.CHAIN_ID)
  const router = Router()
  router.get('/deposits', async (_req, res) => {
    const [waiting, { addresses, total, blocked }] = [await payables.waiting(LISTED_MAX), await payables.totals(config.DEPOSIT_MIN_UNITS)]
    const { sweeps, signatures } = await accounts()
    res.json({
      relayer_address: sweeps,
      gasless_address: signatures,
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
