import { ApiError, errorTable, type Problem, pathInLogs, toProblem } from '@ponte/contracts'
import type { ErrorRequestHandler, Request } from 'express'
import { isTransient } from '../database/errors'
import type { Logger } from '../observe/logger'
import { RetryableError } from '../retryable'

export const unavailable = () =>
  new ApiError('service_unavailable', 'A part of the service does not answer; try again shortly.', { retryAfterS: 2 })

/** An error is an ApiError, one of the HTTP layer's own refusals, a database that cannot be asked, or a fault of ours. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const type = typeof error === 'object' && error !== null ? Reflect.get(error, 'type') : undefined
  const status = typeof error === 'object' && error !== null ? Reflect.get(error, 'status') : undefined
  if (type === 'entity.too.large') return new ApiError('payload_too_large', 'Send at most 64 KiB.')
  if (type === 'charset.unsupported' || type === 'encoding.unsupported')
    return new ApiError('unsupported_media_type', 'Send UTF-8 JSON without a content encoding we do not know.')
  if (type === 'entity.parse.failed') return new ApiError('invalid_request', 'The body is not valid JSON.')
  if (error instanceof URIError || (typeof status === 'number' && status >= 400 && status < 500)) {
    return new ApiError('invalid_request', 'The request could not be read; check its path, headers and body.')
  }
  if (isTransient(error) || error instanceof RetryableError) return unavailable()
  return new ApiError('internal_error', 'Something failed on our side; it has been recorded under this request id.')
}

/** HTML for this problem, or null when this request is better answered with JSON. */
export type ErrorPage = (problem: Problem, req: Request) => string | null

export const problems =
  (logger: Logger, errorPage: ErrorPage = () => null): ErrorRequestHandler =>
  (error, req, res, next) => {
    if (res.writableEnded) return
    const refusal = toApiError(error)
    const { status } = errorTable[refusal.code]
    const requestId = String(res.locals.requestId)
    if (status >= 500)
      logger.error('a request failed', { request_id: requestId, method: req.method, path: pathInLogs(req.path), code: refusal.code, error })
    if (res.headersSent) return next(error)
    if (refusal.retryAfterS !== undefined) res.setHeader('Retry-After', String(refusal.retryAfterS))
    if (status === 401) res.setHeader('WWW-Authenticate', 'Bearer')
    const problem = toProblem(refusal, requestId)
    const page = errorPage(problem, req)
    res.status(status)
    if (page === null) res.type('application/problem+json').send(JSON.stringify(problem))
    else res.type('html').send(page)
  }
