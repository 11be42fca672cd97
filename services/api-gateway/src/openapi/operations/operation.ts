import type { ErrorCode, Permission } from '@ponte/contracts'
import type { z } from 'zod'
import type { AnswerName, RequestName } from '../schemas'
import { permissionOf } from './permission'

export type Credential = 'api_key' | 'session' | 'none'

export interface Operation {
  method: 'get' | 'post' | 'patch' | 'delete'
  path: string
  id: string
  tag: string
  credential: Credential
  /** What the credential must be allowed; null where no merchant is asked for. */
  permission: Permission | null
  summary: string
  description?: string
  query?: z.ZodType
  body?: RequestName
  /** Status to the schema of its JSON; the stream and the file have types of their own. */
  answers: Partial<Record<200 | 201 | 202, AnswerName | 'stream' | 'csv'>>
  /** Takes an Idempotency-Key; implied where `idempotency_mismatch` can be answered. */
  keyed?: true
  /** Beyond those that its credential, its body and its path bring with them. */
  errors?: ErrorCode[]
}

export const owned: ErrorCode[] = ['forbidden', 'not_found']
export const keyed: ErrorCode[] = ['idempotency_in_progress', 'idempotency_mismatch']
export const priced: ErrorCode[] = ['payout_address_required', 'rate_unavailable']

type Rest = Omit<Operation, 'method' | 'path' | 'credential' | 'permission'>

export const api = (method: Operation['method'], path: string, rest: Rest): Operation => ({
  ...{ method, path: `/api/v1${path}`, credential: 'api_key', permission: permissionOf(method, `/api/v1${path}`) },
  ...rest,
  // A named key may lack the scope.
  errors: [...new Set<ErrorCode>([...(rest.errors ?? []), 'forbidden'])],
})
export const me = (method: Operation['method'], path: string, rest: Rest): Operation => ({
  ...{
    method,
    path: `/api/v1/merchants/me${path}`,
    credential: 'session',
    permission: permissionOf(method, `/api/v1/merchants/me${path}`),
  },
  ...rest,
  // A user without a merchant has nothing here, and a member may not do everything.
  errors: [...new Set<ErrorCode>([...(rest.errors ?? []), 'not_found', 'forbidden'])],
})
