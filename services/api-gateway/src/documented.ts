import { ApiError, type Permission } from '@ponte/contracts'
import type { Request, RequestHandler } from 'express'
import { z } from 'zod'
import { operations } from './openapi'

const documented = new Map(
  operations.map(({ method, path, query }) => [
    `${method} ${path}`,
    new Set(query ? Object.keys(Object(z.toJSONSchema(query, { io: 'input' }).properties)) : []),
  ]),
)

const permissions = new Map(operations.map(({ method, path, permission }) => [`${method} ${path}`, permission]))

const operationOf = (req: Request) => `${req.method === 'HEAD' ? 'get' : req.method.toLowerCase()} ${req.route.path}`

/** What the OpenAPI document reports that this route needs. */
export function neededPermission(req: Request): Permission | null {
  const permission = permissions.get(operationOf(req))
  if (permission === undefined) throw new Error(`${operationOf(req)} is not in the OpenAPI document.`)
  return permission
}

/** Refuses query parameters that the OpenAPI document does not name, before an owner is asked. */
export const knownQuery: RequestHandler = (req, _res, next) => {
  const known = documented.get(operationOf(req))
  const unknown = Object.keys(req.query).filter(name => !known?.has(name))
  if (unknown.length === 0) return next()
  const errors = unknown.slice(0, 20).map(path => ({ path, message: 'is not a known field' }))
  throw new ApiError('invalid_request', `The query is not valid: ${unknown[0]} is not a known field.`, { errors })
}
