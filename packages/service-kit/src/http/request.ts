import { ApiError } from '@ponte/contracts'
import type { z } from 'zod'

/** Parses what a caller sent. Throws ApiError `invalid_request` that names every field at fault. */
export function parseRequest<T extends z.ZodType>(schema: T, value: unknown, where: 'body' | 'query' | 'path'): z.infer<T> {
  const result = schema.safeParse(value === undefined ? {} : value)
  if (result.success) return result.data
  const errors = result.error.issues.slice(0, 20).flatMap(issue => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.map(String).join('.'), message: issue.message }]
    return issue.keys.slice(0, 20).map(key => ({ path: [...issue.path, key].map(String).join('.'), message: 'is not a known field' }))
  })
  const first = errors[0]
  throw new ApiError(
    'invalid_request',
    `The ${where} is not valid: ${first?.path ? `${first.path} ` : ''}${first?.message ?? 'unknown fault'}.`,
    { errors },
  )
}
