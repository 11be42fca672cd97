import { finished } from 'node:stream'
import { ApiError, type Caller, pathInLogs } from '@ponte/contracts'
import { type Logger, type Part, signCaller, traceHeaders } from '@ponte/service-kit'
import { type Dispatcher, RoundRobinPool } from 'undici'
import { readBody } from '../read-body'
import { isConnectionLoss } from './connection-loss'
import { pickHeaders } from './headers'
import { openReplicas, SilentReplicaError } from './replicas'

export interface OwnerAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** The connection of the same request before was lost: it may have had its effect then. */
  isResent?: boolean
}

export type OwnerStream = Omit<OwnerAnswer, 'body' | 'isResent'> & { body: Dispatcher.ResponseData['body'] }

export interface OwnerRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: Buffer
  /** The same Idempotency-Key has its effect once. */
  isKeyed?: boolean
  /** Asked wait before the answer. */
  waitMs?: number
}

/** A service that answers for its resources; every request to it carries a fresh token that names the caller. */
export interface Owner extends Part {
  ask(caller: Caller, request: OwnerRequest): Promise<OwnerAnswer>
  /** The same for an answer of any size, which is passed on as it comes. */
  open(caller: Caller, request: OwnerRequest, signal: AbortSignal): Promise<OwnerStream>
  /** Longest wait for a part of such an answer. */
  partMs: number
  silentReplicas(): number
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const CONNECTIONS_MAX = 64
/** Replicas are near. At the address of a container that is gone packets vanish, and a request that waits for its connection cannot be aborted. */
const CONNECT_MS = 1_000
const CONNECTION_REQUESTS_MAX = 10_000
/** Shorter than a stopping owner's lame-duck time, so that no request is written to a connection that is just being closed. */
const IDLE_MAX_MS = 1_000
const RETRY_AFTER_S = 2
const LONG_ANSWERS_MAX = 64
/** A read that is not answered by then is sent to another replica too, and the first answer is taken; no more of them at once than so many. */
const HEDGE_AFTER_MS = 300
const HEDGES_MAX = 16
const ANSWER_HEADERS = ['content-type', 'idempotency-replayed', 'retry-after', 'location', 'content-disposition'] as const

export interface OwnerOptions {
  name: string
  urls: readonly string[]
  secrets: readonly string[]
  timeoutMs: number
  connectionAgeMs: number
  connections?: number
  /** Most answers at once that are waited for, or passed on in parts. */
  longAnswers?: number
  logger: Logger
}

/** Opens a keep-alive pool to one owner. An owner that does not answer in time answers the caller 503 `service_unavailable`. */
export function openOwner(options: OwnerOptions): Owner {
  const { name, secrets, timeoutMs, logger, connections = CONNECTIONS_MAX, longAnswers = LONG_ANSWERS_MAX } = options
  const [first = ''] = options.urls
  const { host, pathname } = new URL(first)
  const prefix = pathname.replace(/\/$/, '')
  const partMs = 2 * timeoutMs
  const poolOf = (count: number) => (origin: string, servername: string | null) =>
    new RoundRobinPool(origin, {
      connections: count,
      connectTimeout: CONNECT_MS,
      pipelining: 1,
      maxRequestsPerClient: CONNECTION_REQUESTS_MAX,
      keepAliveTimeout: IDLE_MAX_MS,
      keepAliveMaxTimeout: IDLE_MAX_MS,
      ...(servername === null ? {} : { connect: { servername } }),
    })
  const replicas = openReplicas({
    name,
    urls: options.urls,
    connectionAgeMs: options.connectionAgeMs,
    logger,
    // Long answers have connections of their own, so that no other merchant's request waits for one that a slow reader or a long poll holds.
    make: { prompt: poolOf(connections), long: poolOf(longAnswers) },
  })
  type OwnerReplica = Awaited<ReturnType<typeof replicas.next>>
  const places = createPlaces(longAnswers)
  let hedges = 0

  const open = async (
    caller: Caller,
    { method, path, headers, body, waitMs = 0 }: OwnerRequest,
    signal: AbortSignal,
    pool: OwnerReplica['pools']['prompt'],
  ): Promise<OwnerStream> => {
    const response = await pool.present().request({
      method,
      path: `${prefix}${path}`,
      headers: { ...headers, ...traceHeaders(), host, authorization: `Bearer ${signCaller(caller, { secrets, audience: name })}` },
      body: body ?? null,
      signal,
      headersTimeout: partMs + waitMs,
      bodyTimeout: partMs,
    })
    return { status: response.statusCode, headers: pickHeaders(response.headers, ANSWER_HEADERS), body: response.body }
  }
  const send = (caller: Caller, request: OwnerRequest, signal: AbortSignal, replica: OwnerReplica): Promise<OwnerAnswer> =>
    replica.during(async silent => {
      const pool = request.waitMs ? replica.pools.long : replica.pools.prompt
      const { body, ...answer } = await open(caller, request, AbortSignal.any([signal, silent]), pool)
      return { ...answer, body: await readBody(body, ANSWER_BYTES_MAX) }
    })
  /** Sends a read that is late to another replica too. */
  const sendHedged = async (caller: Caller, request: OwnerRequest, signal: AbortSignal, replica: OwnerReplica): Promise<OwnerAnswer> => {
    const won = new AbortController()
    const either = AbortSignal.any([signal, won.signal])
    const sent = send(caller, request, either, replica)
    let timer: NodeJS.Timeout | undefined
    const isLate = new Promise<boolean>(resolve => {
      timer = setTimeout(() => resolve(true), HEDGE_AFTER_MS)
      sent.then(
        () => resolve(false),
        () => resolve(false),
      )
    })
    try {
      if (!(await isLate) || hedges >= HEDGES_MAX || !replicas.hasOthers()) return await sent
      hedges += 1
      const another = replicas.next(replica).then(other => send(caller, request, either, other))
      try {
        return await Promise.any([sent, another])
      } catch {
        return await sent
      } finally {
        hedges -= 1
      }
    } finally {
      clearTimeout(timer)
      won.abort()
    }
  }
  /** Until it has begun, an answer in parts may be asked of another replica. */
  const openAtAny = async (caller: Caller, request: OwnerRequest, signal: AbortSignal): Promise<OwnerStream> => {
    const openAt = (replica: OwnerReplica) =>
      replica.during(silent => open(caller, request, AbortSignal.any([signal, silent]), replica.pools.long))
    const replica = await replicas.next()
    return openAt(replica).catch(async error => {
      if (!mayRepeat(request, error)) throw error
      return openAt(await replicas.next(replica))
    })
  }
  /** The owner's answer, or 503 when it has none or does not take our token. */
  const answered = async <Answer extends { status: number }>(path: string, send: () => Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await send()
      if (answer.status !== 401) return answer
      logger.error('an owner refused the internal token; check that secrets and clocks agree', { owner: name })
    } catch (error) {
      logger.warn('an owner does not answer', { owner: name, path: pathInLogs(path), error })
    }
    throw new ApiError('service_unavailable', 'The part of the service that answers this does not respond; try again shortly.', {
      retryAfterS: RETRY_AFTER_S,
    })
  }
  const ask = (caller: Caller, request: OwnerRequest) => {
    const signal = AbortSignal.timeout(timeoutMs + (request.waitMs ?? 0))
    const attempt = async (replica: OwnerReplica, refusals: number): Promise<OwnerAnswer> => {
      const isHedged = request.method === 'GET' && !request.waitMs && replicas.hasOthers()
      return (isHedged ? sendHedged : send)(caller, request, signal, replica).catch(async error => {
        if (wasNeverSent(error)) {
          replicas.suspect(replica)
          if (refusals === REFUSALS_MAX) throw error
          return attempt(await replicas.next(replica), refusals + 1)
        }
        if (!mayRepeat(request, error)) throw error
        return { ...(await send(caller, request, signal, await replicas.next(replica))), isResent: true }
      })
    }
    return answered(request.path, async () => attempt(await replicas.next(), 0))
  }
  return {
    name,
    partMs,
    silentReplicas: replicas.silent,
    start: replicas.start,
    stop: replicas.stop,
    async open(caller, request, signal) {
      const leave = places.take(caller)
      try {
        const answer = await answered(request.path, async () => {
          const opened = await openAtAny(caller, request, signal)
          if (opened.status === 401) await opened.body.dump()
          return opened
        })
        finished(answer.body, leave)
        return answer
      } catch (error) {
        leave()
        throw error
      }
    },
    async ask(caller, request) {
      if (!request.waitMs) return ask(caller, request)
      const leave = places.take(caller)
      return ask(caller, request).finally(leave)
    },
  }
}

/** So many places. A merchant takes one while it has fewer than are free, so that however many others have theirs, the next finds some. */
function createPlaces(count: number): { take(caller: Caller): () => void } {
  const taken = new Map<string, number>()
  let free = count
  return {
    take(caller) {
      const holder = caller.kind === 'merchant' ? caller.terms.merchant_id : caller.kind
      const own = taken.get(holder) ?? 0
      if (own >= free)
        throw new ApiError('rate_limited', 'Too many requests here wait for their answers; ask without wait, or again in a moment.', {
          retryAfterS: RETRY_AFTER_S,
        })
      free -= 1
      taken.set(holder, own + 1)
      return () => {
        free += 1
        const left = (taken.get(holder) ?? 1) - 1
        if (left > 0) taken.set(holder, left)
        else taken.delete(holder)
      }
    },
  }
}

/** The last three are of an address that is gone with its container. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'])
/** Replicas that are replaced refuse one after another: those that stop, and those that have not started. */
const REFUSALS_MAX = 8

/**
 * Retry once when the connection was lost, because a stopping replica closes its connections, or when the replica fell silent. A request that was sent may have had its effect,
 * so only idempotent ones are sent again.
 */
function mayRepeat({ method, headers, isKeyed }: OwnerRequest, error: unknown): boolean {
  const repeatable = method === 'GET' || (isKeyed === true && headers?.['idempotency-key'] !== undefined)
  return wasNeverSent(error) || (repeatable && (error instanceof SilentReplicaError || isConnectionLoss(error)))
}

const wasNeverSent = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && NEVER_SENT.has(String(Reflect.get(error, 'code')))
