/**
 * Every error a caller can meet: code, status, title. docs/interface.md#errors.
 * Add a row here and the OpenAPI document, the middleware and the tests follow.
 */
export const errorTable = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  missing_authorization: { status: 401, title: 'No Authorization header was sent' },
  invalid_api_key: { status: 401, title: 'The API key is unknown or revoked' },
  invalid_jwt: { status: 401, title: 'The session token is invalid or expired' },
  forbidden: { status: 403, title: 'Not yours, or beyond what this credential may do' },
  fresh_login_required: { status: 403, title: 'The login is too long ago for this' },
  second_factor_required: { status: 403, title: 'The login lacks the second factor that its user has' },
  not_found: { status: 404, title: 'No such resource or route' },
  method_not_allowed: { status: 405, title: 'The route has no such method' },
  request_timeout: { status: 408, title: 'The request was not sent in time' },
  invalid_state: { status: 409, title: 'The resource is in a state that does not allow this' },
  order_has_payments: { status: 409, title: 'The order has received money' },
  merchant_exists: { status: 409, title: 'This user already has a merchant' },
  idempotency_in_progress: { status: 409, title: 'A request with this Idempotency-Key is still running' },
  not_due: { status: 409, title: 'The current period is already charged' },
  events_reset: { status: 410, title: 'The list was put back to an earlier moment' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON' },
  idempotency_mismatch: { status: 422, title: 'This Idempotency-Key was used with another body' },
  payout_address_required: { status: 422, title: 'The merchant has no payout address' },
  payout_address_refused: { status: 422, title: 'This payout address cannot be paid' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something failed on our side' },
  orders_paused: { status: 503, title: 'No new orders are taken at the moment' },
  rate_unavailable: { status: 503, title: 'No fresh exchange rate' },
  service_unavailable: { status: 503, title: 'A part of the service does not answer' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof errorTable

export interface FieldError {
  path: string
  message: string
}

/** A refusal that is sent to the caller. Anything else thrown is a 500 whose details stay with us. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly errors: FieldError[] | undefined
  readonly retryAfterS: number | undefined
  readonly resumeAfter: string | undefined

  /** `detail` is one sentence: what to do; `retryAfterS` becomes the Retry-After header, and `resumeAfter` is the cursor of `events_reset`. */
  constructor(code: ErrorCode, detail: string, more: { errors?: FieldError[]; retryAfterS?: number; resumeAfter?: string } = {}) {
    super(detail)
    this.code = code
    this.errors = more.errors
    this.retryAfterS = more.retryAfterS
    this.resumeAfter = more.resumeAfter
  }
}

/** `invalid_request` for one field of a body: what it must be, in words that follow its name. */
export const invalidField = (path: string, message: string): ApiError =>
  new ApiError('invalid_request', `The body is not valid: ${path} ${message}.`, { errors: [{ path, message }] })

/** The RFC 9457 body of an error response (`application/problem+json`). */
export interface Problem {
  type: string
  title: string
  status: number
  code: ErrorCode
  detail: string
  request_id: string
  errors?: FieldError[]
  resume_after?: string
}

export function toProblem(error: ApiError, requestId: string): Problem {
  const { status, title } = errorTable[error.code]
  return {
    type: `/docs/errors#${error.code}`,
    title,
    status,
    code: error.code,
    detail: error.message,
    request_id: requestId,
    ...(error.errors ? { errors: error.errors } : {}),
    ...(error.resumeAfter === undefined ? {} : { resume_after: error.resumeAfter }),
  }
}
