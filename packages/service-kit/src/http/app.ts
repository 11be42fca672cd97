import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, errorTable, subjectsOfPath, toProblem } from '@ponte/contracts'
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Router } from 'express'
import { isTransient } from '../database'
import type { Logger } from '../observe'
import { logFields, withLogFields } from '../observe'
import type { Part } from '../process'
import { routeOf, watchRequests } from './watched-requests'

export const BODY_LIMIT = '64kb'
/** How long a stopping server waits for the answers in flight before it cuts them off. */
const STOP_WAIT_MS = 10_000
const REQUEST_ID = /^[\w.:-]{8,128}$/

export interface AppOptions {
  routes: Router
  logger: Logger
  /** Leaves bodies unread for a route that forwards them as they are. */
  rawBody?: boolean
  /** Runs before a body is read: headers that every answer carries, limits on who may ask at all. */
  before?: readonly RequestHandler[]
}

/** The express app of any service: request id, JSON body, routes, and the one place where errors become answers. */
export function createApp(options: AppOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use(requestId, logged(options.logger), ...(options.before ?? []))
  app.use(options.rawBody ? express.raw({ limit: BODY_LIMIT, type: () => true }) : jsonBody())
  app.use(options.routes)
  app.use((req, _res, next) => next(new ApiError('not_found', `There is no route ${req.method} ${req.path}.`)))
  app.use(problems(options.logger))
  return app
}

const requestId: RequestHandler = (req, res, next) => {
  const given = req.headers['x-request-id']
  const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
  res.locals.requestId = id
  res.setHeader('X-Request-Id', id)
  withLogFields({ request_id: id, ...subjectsOfPath(req.path) }, next)
}

const logged =
  (logger: Logger): RequestHandler =>
  (req, res, next) => {
    const start = performance.now()
    // A connection may close outside of what was done for its request.
    const about = logFields()
    res.on('close', () => {
      const ms = Math.round(performance.now() - start)
      logger.debug('answered', { ...about, method: req.method, route: routeOf(req), status: res.statusCode, ms })
    })
    next()
  }

function jsonBody(): RequestHandler {
  const parse = express.json({ limit: BODY_LIMIT, type: 'application/json' })
  return (req, res, next) => {
    const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
    if (hasBody && !req.is('application/json')) {
      throw new ApiError('unsupported_media_type', 'Send the body as JSON with the header Content-Type: application/json.')
    }
    parse(req, res, next)
  }
}

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
  if (isTransient(error))
    return new ApiError('service_unavailable', 'A part of the service does not answer; try again shortly.', { retryAfterS: 2 })
  return new ApiError('internal_error', 'Something failed on our side; it has been recorded under this request id.')
}

const problems =
  (logger: Logger): ErrorRequestHandler =>
  (error, req, res, next) => {
    const refusal = toApiError(error)
    const { status } = errorTable[refusal.code]
    const requestId = String(res.locals.requestId)
    if (status >= 500)
      logger.error('a request failed', { request_id: requestId, method: req.method, path: req.path, code: refusal.code, error })
    if (res.headersSent) return next(error)
    if (refusal.retryAfterS !== undefined) res.setHeader('Retry-After', String(refusal.retryAfterS))
    if (status === 401) res.setHeader('WWW-Authenticate', 'Bearer')
    res
      .status(status)
      .type('application/problem+json')
      .send(JSON.stringify(toProblem(refusal, requestId)))
  }

export interface HttpServer extends Part {
  /** The port that was bound; meaningful once started. */
  port(): number
  server: Server
}

export interface HttpServerOptions {
  host: string
  port: number
  /** The setting to name when the port is taken. */
  portSetting?: string
  /** Leaves its requests out of metrics and traces: probes and scrapes would drown the others. */
  unwatched?: boolean
}

/** Times are looked at every five seconds, so that a slow sender is gone soon after its time is up. */
const SOCKET_LIMITS = {
  keepAliveTimeout: 65_000,
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
}

/**
 * An HTTP part: keep-alive, bounded headers and time, and a stop that answers what is in flight.
 * Port 0 binds a free one. A taken port rejects with a message that names `portSetting`.
 */
export function httpServer(name: string, app: Express, options: HttpServerOptions): HttpServer {
  const watched = options.unwatched ? undefined : watchRequests()
  const server = createServer(SOCKET_LIMITS, watched?.listener(app) ?? app)
  server.maxRequestsPerSocket = 0
  let stopping = false
  const open = new Set<ServerResponse>()
  server.prependListener('request', (_req: IncomingMessage, res: ServerResponse) => {
    if (stopping) res.setHeader('Connection', 'close')
    open.add(res)
    res.on('close', () => open.delete(res))
  })
  const port = () => (server.address() as AddressInfo | null)?.port ?? options.port
  return {
    name,
    server,
    port,
    observe: metrics => watched?.observe(metrics),
    ready: () => server.listening,
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EADDRINUSE') return reject(error)
          reject(new Error(`Port ${options.port} is taken. Stop what uses it, or set ${options.portSetting ?? 'PORT'} to another one.`))
        })
        server.listen(options.port, options.host, resolve)
      }),
    stop: () =>
      new Promise(resolve => {
        stopping = true
        for (const res of open) if (!res.headersSent) res.setHeader('Connection', 'close')
        const late = setTimeout(() => server.closeAllConnections(), STOP_WAIT_MS)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}
