import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, subjectsOfPath } from '@ponte/contracts'
import express, { type Express, type RequestHandler, type Router } from 'express'
import type { Database } from '../database/database'
import { logFields, withLogFields } from '../observe/log-fields'
import type { Logger } from '../observe/logger'
import { type ErrorPage, problems } from './problems'
import { answerWithoutDatabase, unlessAnswered } from './silent-database'
import { readableRequest } from './unreadable-request'
import { routeOf } from './watched-requests'

export const BODY_LIMIT = '64kb'
const REQUEST_ID = /^[\w.:-]{8,128}$/

export interface AppOptions {
  routes: Router
  logger: Logger
  /** Requests are answered when it is silent. */
  database?: Pick<Database, 'isAlive'>
  /** Leaves bodies unread for a route that forwards them as they are. */
  rawBody?: boolean
  /** Runs before a body is read: headers that every answer carries, limits on who may ask at all. */
  before?: readonly RequestHandler[]
  /** A page instead of problem+json, for a browser that asked for a page. */
  errorPage?: ErrorPage
}

/** The express app of any service: request id, JSON body, routes, and the one place where errors become answers. */
export function createApp(options: AppOptions): Express {
  const app = express()
  const refuse = problems(options.logger, options.errorPage)
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use(requestId, logged(options.logger), readableRequest)
  if (options.database) app.use(answerWithoutDatabase(options.database, (error, req, res) => refuse(error, req, res, () => undefined)))
  app.use(...(options.before ?? []), unlessAnswered)
  app.use(options.rawBody ? express.raw({ limit: BODY_LIMIT, type: () => true }) : jsonBody())
  app.use(unlessAnswered, options.routes)
  app.use((req, _res, next) => next(new ApiError('not_found', `There is no route ${req.method} ${req.path}.`)))
  app.use(refuse)
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
  const parse = express.json({ limit: BODY_LIMIT, type: 'application/json', verify: requireUtf8 })
  return (req, res, next) => {
    const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
    if (hasBody && !req.is('application/json')) {
      throw new ApiError('unsupported_media_type', 'Send the body as JSON with the header Content-Type: application/json.')
    }
    parse(req, res, next)
  }
}

/** The parser would read other encodings too, and what stands before this service reads the same bytes as UTF-8. */
function requireUtf8(_req: IncomingMessage, _res: ServerResponse, _body: Buffer, encoding: string): void {
  if (encoding !== 'utf-8') throw new ApiError('unsupported_media_type', 'Send UTF-8 JSON.')
}
