import { isPonteError, PonteError } from './failure.js'
import { mayRetry, retryAfterMs, retryDelayMs } from './retry.js'
import type { Problem } from './schemas.js'
import { webCrypto } from './webcrypto.js'

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>

/** The second argument of `fetch`. */
export interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  redirect: 'manual'
}

/** The used part of a `Response`. */
export interface FetchAnswer {
  status: number
  headers: { get(name: string): string | null }
  text(): Promise<string>
  /** Used for files that are no text. */
  arrayBuffer?(): Promise<ArrayBuffer>
}

/** Set for a single call. */
export interface RequestOptions {
  /** Ends the call, also while it waits to try again. */
  signal?: AbortSignal
}

/** Set for a call that has an effect. */
export interface WriteOptions extends RequestOptions {
  /** 1 to 255 printable characters; by default a random one. Give your own to be safe over a restart of your process. */
  idempotencyKey?: string
}

export interface Call extends WriteOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: object
  body?: object
  /** Takes an Idempotency-Key. */
  keyed?: boolean
  /** Extra time for the answer. */
  waitMs?: number
  /** The answer is a file, given as its text or its bytes. */
  file?: 'text' | 'bytes'
}

export interface TransportOptions {
  baseUrl: string
  credential: () => string | Promise<string>
  timeoutMs: number
  maxRetries: number
  fetch: Fetch
  headers: Record<string, string>
}

export type Transport = <Answer>(call: Call) => Promise<Answer>

/** Sends requests, tries again what may be tried again, and turns everything else into a `PonteError`. */
export function createTransport(options: TransportOptions): Transport {
  return async <Answer>(call: Call): Promise<Answer> => {
    const key = call.keyed ? (call.idempotencyKey ?? (await webCrypto()).randomUUID()) : null
    const repeatable = call.method === 'GET' || key !== null
    for (let attempt = 0; ; attempt++) {
      try {
        return (await attemptOnce(options, call, key)) as Answer
      } catch (error) {
        if (!isPonteError(error) || attempt >= options.maxRetries || !mayRetry(error, repeatable)) throw error
        await pause(retryDelayMs(attempt, error.retryAfterMs, Math.random()), call.signal)
      }
    }
  }
}

async function attemptOnce(options: TransportOptions, call: Call, key: string | null): Promise<unknown> {
  const { method, path, query = {}, body, signal } = call
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const search = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)]))).toString()
  const url = `${options.baseUrl}${path}${search === '' ? '' : `?${search}`}`
  const accept = call.file ? { Accept: call.file === 'text' ? 'text/csv, application/json' : '*/*' } : {}
  const headers: Record<string, string> = { ...options.headers, ...accept, Authorization: `Bearer ${await options.credential()}` }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (key !== null) headers['Idempotency-Key'] = key

  const ending = deadline(options.timeoutMs + (call.waitMs ?? 0), signal)
  const failed = (code: 'aborted' | 'timeout' | 'connection_failed', detail: string, cause: unknown) =>
    new PonteError({ code, detail, idempotencyKey: key, cause })
  try {
    const init: FetchInit = { method, headers, signal: ending.signal, redirect: 'manual' }
    const answer = await options.fetch(url, body === undefined ? init : { ...init, body: JSON.stringify(body) })
    const isFile = call.file !== undefined && answer.status === 200 && FILES[call.file].test(answer.headers.get('content-type') ?? '')
    if (call.file === 'bytes' && answer.arrayBuffer && isFile) return new Uint8Array(await answer.arrayBuffer())
    const text = await answer.text()
    if (isFile) return call.file === 'text' ? text : new TextEncoder().encode(text)
    return read(answer, text, key)
  } catch (error) {
    if (isPonteError(error)) throw error
    if (signal?.aborted) throw failed('aborted', 'The call was aborted by its signal.', error)
    if (ending.signal.aborted) throw failed('timeout', `${method} ${path} was not answered in ${options.timeoutMs} ms.`, error)
    throw failed('connection_failed', `${options.baseUrl} could not be reached, or the connection was lost.`, error)
  } finally {
    ending.clear()
  }
}

// A page of something in between is 200 too, and no file.
const FILES = {
  text: /^text\/csv\b/,
  bytes: /^(text\/csv|application\/(json|pdf|x-ndjson|x-ofx|vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet))\b/,
}

function read({ status, headers }: FetchAnswer, text: string, idempotencyKey: string | null): unknown {
  const requestId = headers.get('x-request-id')
  const body = parse(text)
  if (status >= 200 && status < 300 && body !== undefined) return body
  const waitMs = retryAfterMs(headers.get('retry-after'), Date.now())
  const known = { status, requestId, idempotencyKey, retryAfterMs: waitMs }
  if (isProblem(body)) {
    const { code, detail, request_id, errors = [], resume_after = null } = body
    throw new PonteError({ ...known, code, detail, requestId: request_id, errors, resumeAfter: resume_after })
  }
  const detail = `The answer (status ${status}) is not one of the Ponte API; check baseUrl and what stands in between.`
  throw new PonteError({ ...known, code: 'unexpected_answer', detail })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string' && 'detail' in body

/** A signal that ends with the time or with the caller's. `AbortSignal.any` is missing in early Node 18. */
function deadline(ms: number, outer: AbortSignal | undefined): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, ms)
  if (outer?.aborted) abort()
  else outer?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}

/** Waits; rejects with `aborted` when the signal ends it. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer)
      reject(new PonteError({ code: 'aborted', detail: 'The call was aborted by its signal.' }))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    if (signal?.aborted) aborted()
    else signal?.addEventListener('abort', aborted, { once: true })
  })
}
