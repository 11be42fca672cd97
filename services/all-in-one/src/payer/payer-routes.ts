import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTestBanner } from '@ponte/api-gateway'
import { ApiError, id, type Mode, payTestOrder } from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import { Router } from 'express'
import { z } from 'zod'
import { payerScript, payerStyle } from './payer-page'
import { NotPayable, type SamplePayer } from './sample-payer'

const pathId = z.object({ order_id: id })

const PATH = '/sample-payer'
const TAGS = `<link rel="stylesheet" href="${PATH}/style.css"><script type="module" src="${PATH}/script.js"></script></head>`

/**
 * "Pay as the sample payer": a route that pays by a real transaction of the local chain, and the checkout with a button for it. Only all-in-one
 * hands these to the gateway; neither the gateway nor the pages of packages/web hold a line of them.
 */
export function payerRoutes(payer: SamplePayer, webFolder: string, mode: Mode = 'development'): Router {
  const router = Router()
  router.get(`${PATH}/script.js`, (_req, res) => void res.type('text/javascript').send(payerScript))
  router.get(`${PATH}/style.css`, (_req, res) => void res.type('text/css').send(payerStyle))
  // JSON alone: a page of another origin cannot send it unasked.
  router.post(`${PATH}/orders/:order_id/pay`, async (req, res) => {
    if (!req.is('application/json')) throw new ApiError('unsupported_media_type', 'Send JSON, at least {}.')
    const { order_id } = parseRequest(pathId, req.params, 'path')
    const request = parseRequest(payTestOrder, jsonOf(req.body), 'body')
    try {
      res.json(await payer.pay(order_id, request))
    } catch (error) {
      if (error instanceof NotPayable) throw new ApiError(error.code, error.message)
      throw error
    }
  })
  const page = join(webFolder, 'pay.html')
  if (existsSync(page)) {
    router.get('/pay/:order_id', (_req, res) => {
      res.setHeader('Cache-Control', 'no-cache')
      const html = readFileSync(page, 'utf8').replace('</head>', TAGS)
      res.type('html').send(mode === 'test' ? withTestBanner(html) : html)
    })
  }
  return router
}

/** The gateway's app leaves a body as its bytes. */
function jsonOf(body: unknown): unknown {
  try {
    return Buffer.isBuffer(body) ? JSON.parse(body.toString('utf8')) : body
  } catch {
    throw new ApiError('invalid_request', 'The body is not JSON.')
  }
}
