import { operations } from '../artifacts/operations.js'
import { PonteError } from '../failure.js'
import type { Call, RequestOptions, Transport } from '../transport.js'

export type OperationId = keyof typeof operations

interface OperationCall extends Omit<Call, 'method' | 'path' | 'keyed'> {
  /** Values of the names in the path. */
  params?: Readonly<Record<string, string | number>>
}

/** Sends an operation by its name; an effect that takes an Idempotency-Key gets one. */
export function callOperation<Answer>(send: Transport, id: OperationId, { params = {}, ...call }: OperationCall = {}): Promise<Answer> {
  const [method, pattern, keyed] = operations[id]
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => segment(String(params[name] ?? '')))
  return send({ ...call, method, path, keyed })
}

/** A file takes as long as its list: so much beyond the time that an answer may take. */
export const FILE_WAIT_MS = 600_000

/** All pages of a list as one file. Its text ends the call alone: one that broke off is an error. */
export const exportFile = (
  send: Transport,
  id: OperationId,
  query: object | undefined,
  options: RequestOptions | undefined,
): Promise<string> => callOperation(send, id, { ...(query ? { query } : {}), ...options, file: 'text', waitMs: FILE_WAIT_MS })

/** An id as a part of a path: nothing that a caller passes in leaves its route. */
function segment(id: string): string {
  if (/^[0-9a-zA-Z-]{1,64}$/.test(id)) return id
  throw new PonteError({ code: 'invalid_argument', detail: 'An id is needed here: a UUID as the API gave it.' })
}
