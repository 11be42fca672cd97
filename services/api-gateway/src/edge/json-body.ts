import { ApiError } from '@ponte/contracts'
import type { Request } from 'express'

/** The JSON of a body that was read raw, for the routes that do not forward it. An empty body is undefined. */
export function jsonBody(req: Request): unknown {
  if (!Buffer.isBuffer(req.body) || req.body.length === 0) return undefined
  if (!req.is('application/json')) {
    throw new ApiError('unsupported_media_type', 'Send the body as JSON with the header Content-Type: application/json.')
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(req.body))
  } catch {
    throw new ApiError('invalid_request', 'The body is not valid JSON.')
  }
}
