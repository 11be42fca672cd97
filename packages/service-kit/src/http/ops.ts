import express, { type Router } from 'express'
import type { Logger } from '../observe/logger'
import type { Metrics } from '../observe/metrics'
import type { Part } from '../process/service'
import { withTimeout } from '../with-timeout'
import { type HttpServer, httpServer } from './server'

/** Shorter than a probe's own timeout, so that the answer names the part that is stuck. */
const READY_WAIT_MS = 2_000

/**
 * Health, readiness and metrics on a port of their own, never the public one. When it starts it asks every part for the part's own metrics.
 * `/readyz` asks every part and names those that are not ready.
 */
export function opsServer(options: {
  host: string
  port: number
  metrics: Metrics
  parts: () => readonly Part[]
  logger: Logger
  /** Further questions of operators to this service, beside health and metrics. */
  routes?: Router
}): HttpServer {
  const app = express()
  app.disable('x-powered-by')
  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' })
  })
  app.get('/readyz', async (_req, res) => {
    const states = await Promise.all(options.parts().map(async part => [part.name, await isReady(part, options.logger)] as const))
    const ready = states.every(([, state]) => state)
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not_ready', parts: Object.fromEntries(states) })
  })
  app.get('/metrics', async (_req, res) => {
    res.type(options.metrics.registry.contentType).send(await options.metrics.registry.metrics())
  })
  if (options.routes) app.use(options.routes)
  const server = httpServer('ops', app, { host: options.host, port: options.port, portSetting: 'OPS_PORT', unwatched: true })
  return {
    ...server,
    async start() {
      for (const part of options.parts()) part.observe?.(options.metrics)
      await server.start?.()
    },
  }
}

async function isReady(part: Part, logger: Logger): Promise<boolean> {
  try {
    return await withTimeout(READY_WAIT_MS, Promise.resolve(part.ready?.() ?? true), part.name)
  } catch (error) {
    logger.warn('a part is not ready', { part: part.name, error })
    return false
  }
}
