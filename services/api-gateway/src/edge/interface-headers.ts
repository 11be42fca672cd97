import type { RequestHandler } from 'express'
import { INTERFACE_VERSION } from '../openapi/headers'

/** Headers of every answer of the API, also of one that refuses to read the request. */
export const interfaceHeaders: RequestHandler = (req, res, next) => {
  if (/^\/api(\/|$)/i.test(req.path)) {
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('Ponte-Version', INTERFACE_VERSION)
  }
  next()
}
