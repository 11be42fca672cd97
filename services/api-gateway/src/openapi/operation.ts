import type { ErrorCode } from '@ponte/contracts'
import type { z } from 'zod'
import type { AnswerName, RequestName } from './schemas'

export type Credential = 'api_key' | 'session' | 'none'

export interface Operation {
  method: 'get' | 'post' | 'patch' | 'delete'
  path: string
  id: string
  tag: string
  credential: Credential
  summary: string
  description?: string
  query?: z.ZodType
  body?: RequestName
  /** Status to the schema of its JSON; the stream has a type of its own. */
  answers: Partial<Record<200 | 201 | 202, AnswerName | 'stream'>>
  /** Takes an Idempotency-Key; implied where `idempotency_mismatch` can be answered. */
  keyed?: true
  /** Beyond those that its credential, its body and its path bring with them. */
  errors?: ErrorCode[]
}

export const owned: ErrorCode[] = ['forbidden', 'not_found']
export const keyed: ErrorCode[] = ['idempotency_in_progress', 'idempotency_mismatch']
export const priced: ErrorCode[] = ['payout_address_required', 'rate_unavailable']

export const api = (method: Operation['method'], path: string, rest: Omit<Operation, 'method' | 'path' | 'credential'>): Operation => ({
  ...{ method, path: `/api/v1${path}`, credential: 'api_key' },
  ...rest,
})
export const me = (
  method: Operation['method'],
  path: string,
  rest: Omit<Operation, 'method' | 'path' | 'credential' | 'errors'> & { errors?: ErrorCode[] },
): Operation => ({
  ...{ method, path: `/api/v1/merchants/me${path}`, credential: 'session' },
  ...rest,
  // A user without a merchant has nothing here.
  errors: [...(rest.errors ?? []), 'not_found'],
})
