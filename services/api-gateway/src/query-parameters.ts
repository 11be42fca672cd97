import { ApiError } from '@ponte/contracts'
import type { RequestHandler } from 'express'
import { z } from 'zod'
import { operations } from './openapi'

const documented = new Map(
  operations.map(({ method, path, query }) => [
    `${method} ${path}`,
    new Set(query ? Object.keys(Object(z.toJSONSchema(query, { io: 'input' }).properties)) : []),
  ]),
)

/** Refuses query parameters that the OpenAPI document does not name, before an owner is asked. */
export const knownQuery: RequestHandler = (req, _res, next) => {
  const method = req.method === 'HEAD' ? 'get' : req.method.toLowerCase()
  const known = documented.get(`${method} ${req.route.path}`)
  const unknown = Object.keys(req.query).filter(name => !known?.has(name))
  if (unknown.length === 0) return next()
  const errors = unknown.slice(0, 20).map(path => ({ path, message: 'is not a known field' }))
  throw new ApiError('invalid_request', `The query is not valid: ${unknown[0]} is not a known field.`, { errors })
}
