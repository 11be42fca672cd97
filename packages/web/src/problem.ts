import type { ErrorCode, Problem } from '@ponte/contracts'

/** A refusal instead of what was asked: `code` names it, `requestId` is for support. */
export class RequestFailed extends Error {
  override name = 'RequestFailed'
  constructor(
    readonly status: number,
    readonly code: ErrorCode | 'unreachable',
    message: string,
    readonly requestId: string | null,
    readonly errors: { path: string; message: string }[] = [],
  ) {
    super(message)
  }
}

/** Asks with JSON in and out. Throws RequestFailed for every refusal, and when no server answers. */
export async function ask<T>(path: string, init: RequestInit = {}): Promise<{ body: T; answeredAt: number | null }> {
  const response = await respond(path, init)
  const date = Date.parse(response.headers.get('date') ?? '')
  // An answer may be lost, or be that of something between.
  const body: unknown = response.status === 204 ? null : await response.json().catch(unreachable)
  return { body: body as T, answeredAt: date || null }
}

function unreachable(error: unknown): never {
  if (error instanceof Error && error.name === 'AbortError') throw error
  throw new RequestFailed(0, 'unreachable', String(error), null)
}

/** The answer when it is a good one. Throws RequestFailed for every other. */
export async function respond(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch(unreachable)
  if (response.ok) return response
  const requestId = response.headers.get('x-request-id')
  const problem = (await response.json().catch(() => null)) as Problem | null
  throw new RequestFailed(
    response.status,
    problem?.code ?? 'internal_error',
    problem?.detail ?? response.statusText,
    problem?.request_id ?? requestId,
    problem?.errors,
  )
}
