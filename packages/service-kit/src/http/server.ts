import { AsyncResource } from 'node:async_hooks'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Express } from 'express'
import type { Part } from '../process/service'
import { refuseUnreadable } from './unreadable-request'
import { watchRequests } from './watched-requests'

/** Time that a stopping server gives the answers in flight before it cuts them off. */
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
 * How long a connection may stay silent with an answer under way: longer than any is waited for. A client that reads nothing holds its answer in our memory.
 * Operators' requests may take as long as they need.
 */
const SILENT_MS = 120_000

/** Requests that may wait behind another one on their connection. */
const PIPELINED_MAX = 100

/**
 * An HTTP part: keep-alive, bounded headers and time, and a stop that answers what is in flight. Once retired it is not ready and answers with
 * `Connection: close`, so that callers go elsewhere before it closes.
 * Port 0 binds a free one. A taken port rejects with a message that names `portSetting`.
 */
export function httpServer(name: string, app: Express, options: HttpServerOptions): HttpServer {
  const watched = options.unwatched ? undefined : watchRequests()
  const answer = watched?.listener(app) ?? app
  let retired = false
  const open = new Set<ServerResponse>()
  const server = createServer(
    SOCKET_LIMITS,
    inTurn((req, res) => {
      if (retired) res.setHeader('Connection', 'close')
      open.add(res)
      res.on('close', () => open.delete(res))
      answer(req, res)
    }),
  )
  server.maxRequestsPerSocket = 0
  server.timeout = options.unwatched ? 0 : SILENT_MS
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

/**
 * Handles a request that came behind another one on its connection when that one is answered. Until then its response has no socket: it would not be closed
 * when the connection is lost, nor time out, and what is released by that would be held for ever.
 */
function inTurn(handle: (req: IncomingMessage, res: ServerResponse) => void): (req: IncomingMessage, res: ServerResponse) => void {
  const waiting = new WeakMap<Socket, number>()
  return (req, res) => {
    if (res.socket) return handle(req, res)
    const { socket } = req
    const behind = (waiting.get(socket) ?? 0) + 1
    if (behind > PIPELINED_MAX) return void socket.destroy()
    waiting.set(socket, behind)
    // Bound to its own context: its turn comes when another request ends.
    const start = AsyncResource.bind(() => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
      handle(req, res)
    })
    res.once('socket', () => start())
  }
}
