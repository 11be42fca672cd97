import type { Destination } from '@ponte/contracts'
import { buildConnector, Client, type Dispatcher, Pool } from 'undici'

const CONNECTIONS_PER_HOST = 128
/** Shorter than what most servers keep: a request on a connection that is just being closed costs a second one. */
const IDLE_MS = 4_000

export interface ConnectionOptions {
  /** Wall time of one attempt, and so the longest that connecting can be of use. */
  deadlineMs: number
  /** Time for which an idle connection is kept. */
  idleMs?: number | undefined
  /** Certificate authorities instead of the well-known ones. */
  ca?: string | undefined
}

/** Use of a connection until a request was written to it. */
export interface Carrier {
  /** It carried another request before. */
  reused: boolean
  /** Bytes of answers since this request was written. */
  received(): number
}

type Carried = Dispatcher.DispatchOptions & { onQueued(client: { carrier(): Carrier }): void }

/** Connections of one host to one vetted address. */
export interface Connections {
  /** Sends on a kept connection where one is idle. */
  kept: Pool
  /** Sends each request on a connection of its own. */
  fresh: Pool
}

/** A client knows its connection, so that a request can distinguish a stale connection from a receiver that fails. */
class TrackedClient extends Client {
  #received: () => number = () => 0
  #requests = 0

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector) {
    const track: buildConnector.connector = (target, callback) =>
      connect(target, (...made) => {
        const [, socket] = made
        if (socket) this.#received = () => socket.bytesRead
        this.#requests = 0
        callback(...made)
      })
    super(origin, { ...options, connect: track })
  }

  override dispatch(options: Dispatcher.DispatchOptions | Carried, handler: Dispatcher.DispatchHandler): boolean {
    if ('onQueued' in options) options.onQueued(this)
    return super.dispatch(options, handler)
  }

  /** Called when a request is written. */
  carrier(): Carrier {
    const received = this.#received
    const before = received()
    this.#requests += 1
    return { reused: this.#requests > 1, received: () => received() - before }
  }
}

/** TLS proves the host name although the connection goes to the vetted address. Undici's own timeouts restart with each byte, so they are off. */
export function openConnections({ protocol, host, port, literal }: Destination, address: string, options: ConnectionOptions): Connections {
  const { ca, deadlineMs, idleMs = IDLE_MS } = options
  const connector = buildConnector({ timeout: deadlineMs, rejectUnauthorized: true, allowH2: false, ...(ca ? { ca } : {}) })
  const connect: buildConnector.connector = (target, callback) =>
    connector({ ...target, hostname: address, ...(literal ? {} : { servername: host }) }, callback)
  const settings: Pool.Options = {
    connections: CONNECTIONS_PER_HOST,
    factory: (origin, given) => new TrackedClient(origin, given, connect),
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  }
  const origin = `${protocol}//${host.includes(':') ? `[${host}]` : host}:${port}`
  return { kept: new Pool(origin, { ...settings, pipelining: 1 }), fresh: new Pool(origin, { ...settings, pipelining: 0 }) }
}
