import { ApiError, type Operation } from '@ponte/contracts'
import type { RequestHandler } from 'express'
import { z } from 'zod'

/** Refuses query parameters that the operation does not have, before an owner is asked. */
export function knownQuery({ query }: Operation): RequestHandler {
  const known = new Set(query ? Object.keys(Object(z.toJSONSchema(query, { io: 'input' }).properties)) : [])
  return (req, _res, next) => {
    const unknown = Object.keys(req.query).filter(name => !known.has(name))
    if (unknown.length === 0) return next()
    const errors = unknown.slice(0, 20).map(path => ({ path, message: 'is not a known field' }))
    throw new ApiError('invalid_request', `The query is not valid: ${unknown[0]} is not a known field.`, { errors })
  }
}
