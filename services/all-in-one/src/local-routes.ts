import { quickstartPage } from '@ponte/api-gateway'
import type { Mode } from '@ponte/contracts'
import type { Router } from 'express'
import { payerRoutes } from './payer/payer-routes'
import type { SamplePayer } from './payer/sample-payer'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

export interface LocalRoutesOptions {
  payer: SamplePayer
  webFolder: string
  publicUrl: string
  mode?: Mode
  /** Of the sample merchant, once there is one. */
  apiKey(): string | undefined
}

/** Served on a developer's machine alone: the sample payer, and a quickstart with the key that works there. */
export function localRoutes({ payer, webFolder, publicUrl, mode, apiKey }: LocalRoutesOptions): Router {
  const router = payerRoutes(payer, webFolder, mode)
  router.get('/docs/quickstart', (req, res, next) => {
    // Under another name than the machine's own the gateway's page is shown, without a key.
    if (!LOOPBACK.includes(req.hostname)) return next()
    res.setHeader('Cache-Control', 'no-store')
    return res.type('html').send(quickstartPage(publicUrl, apiKey()))
  })
  return router
}
