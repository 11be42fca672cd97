import type { Problem } from './schemas.js'

/** Codes with which the API refuses a request. */
export type ApiErrorCode = Problem['code']

/** Codes of failures without an answer of the API. */
export type ClientErrorCode =
  | 'connection_failed'
  | 'timeout'
  | 'aborted'
  | 'unexpected_answer'
  | 'events_missing'
  | 'raw_body_required'
  | 'invalid_signature'
  | 'timestamp_out_of_range'
  | 'malformed_event'
  | 'invalid_argument'
  | 'address_mismatch'

/** Every code of a `PonteError`. A newer API may answer one that is not known here, so it is open. */
export type PonteErrorCode = ApiErrorCode | ClientErrorCode | (string & { readonly newer?: never })

/** One field of a request that was refused. */
export interface FieldError {
  /** Where in the body or query. */
  path: string
  /** The fault, for people. */
  message: string
}

/** Fields of a new `PonteError`; `detail` and `status` as the API sent them. */
export interface PonteErrorInit {
  code: PonteErrorCode
  detail: string
  status?: number
  requestId?: string | null
  errors?: readonly FieldError[]
  idempotencyKey?: string | null
  retryAfterMs?: number | null
  resumeAfter?: string | null
  cause?: unknown
}

/**
 * The one error of this package. `code` names the case, `detail` is a sentence on what to do.
 *
 * ```ts
 * catch (error) {
 *   if (isPonteError(error, 'not_due')) return 'charged already'
 *   throw error
 * }
 * ```
 */
export class PonteError<Code extends PonteErrorCode = PonteErrorCode> extends Error {
  override readonly name = 'PonteError'
  /** The case, for programs. */
  readonly code: Code
  /** Advice for people. */
  readonly detail: string
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** Names the request in our logs; quote it. */
  readonly requestId: string | null
  /** Each field at fault, of `invalid_request`; else empty. */
  readonly errors: readonly FieldError[]
  /** The key of the request that failed: send it again with this key, and it takes effect once. */
  readonly idempotencyKey: string | null
  /** Wait that the API asks for. */
  readonly retryAfterMs: number | null
  /** Where to go on, of `events_reset`: the cursor of an event. */
  readonly resumeAfter: string | null

  constructor(init: PonteErrorInit & { code: Code }) {
    super(`${init.code}: ${init.detail}`, init.cause === undefined ? undefined : { cause: init.cause })
    this.code = init.code
    this.detail = init.detail
    this.status = init.status ?? 0
    this.requestId = init.requestId ?? null
    this.errors = init.errors ?? []
    this.idempotencyKey = init.idempotencyKey ?? null
    this.retryAfterMs = init.retryAfterMs ?? null
    this.resumeAfter = init.resumeAfter ?? null
  }

  /** Whether it is this case; narrows `code`. */
  isCode<Wanted extends ApiErrorCode | ClientErrorCode>(code: Wanted): this is PonteError<Wanted> {
    return (this.code as string) === code
  }
}

/** Whether something caught is a `PonteError`, of this case when one is named. Also of another copy of this package. */
export function isPonteError<Wanted extends ApiErrorCode | ClientErrorCode>(error: unknown, code: Wanted): error is PonteError<Wanted>
export function isPonteError(error: unknown): error is PonteError
export function isPonteError(error: unknown, code?: string): boolean {
  if (!(error instanceof Error) || error.name !== 'PonteError' || !('code' in error)) return false
  return code === undefined || error.code === code
}
