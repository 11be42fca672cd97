import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Express } from 'express'
import type { Part } from '../process'
import { refuseUnreadable } from './unreadable-request'
import { watchRequests } from './watched-requests'

/** How long a stopping server waits for the answers in flight before it cuts them off. */
const STOP_WAIT_MS = 10_000

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
  // Refused by the app, as problem+json.
  requireHostHeader: false,
}

/**
 * An HTTP part: keep-alive, bounded headers and time, and a stop that answers what is in flight. Once retired it is not ready and answers with
 * `Connection: close`, so that callers go elsewhere before it closes.
 * Port 0 binds a free one. A taken port rejects with a message that names `portSetting`.
 */
export function httpServer(name: string, app: Express, options: HttpServerOptions): HttpServer {
  const watched = options.unwatched ? undefined : watchRequests()
  const server = createServer(SOCKET_LIMITS, watched?.listener(app) ?? app)
  server.maxRequestsPerSocket = 0
  let retired = false
  const open = new Set<ServerResponse>()
  server.prependListener('request', (_req: IncomingMessage, res: ServerResponse) => {
    if (retired) res.setHeader('Connection', 'close')
    open.add(res)
    res.on('close', () => open.delete(res))
  })
  // A response that has begun cannot be followed by another one.
  const hasBegun = (socket: Duplex) => [...open].some(res => res.socket === socket && res.headersSent)
  server.on('clientError', (error, socket) => refuseUnreadable(error, socket, hasBegun(socket)))
  // RFC 9110 leaves it to the server: an expectation that is not known is ignored.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res))
  const retire = () => {
    retired = true
    for (const res of open) if (!res.headersSent) res.setHeader('Connection', 'close')
  }
  const port = () => (server.address() as AddressInfo | null)?.port ?? options.port
  return {
    name,
    server,
    port,
    observe: metrics => watched?.observe(metrics),
    ready: () => server.listening && !retired,
    retire,
    start: () =>
      new Promise((resolve, reject) => {
        retired = false
        server.once('error', (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EADDRINUSE') return reject(error)
          reject(new Error(`Port ${options.port} is taken. Stop what uses it, or set ${options.portSetting ?? 'PORT'} to another one.`))
        })
        server.listen(options.port, options.host, resolve)
      }),
    stop: () =>
      new Promise(resolve => {
        retire()
        const late = setTimeout(() => server.closeAllConnections(), STOP_WAIT_MS)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}
