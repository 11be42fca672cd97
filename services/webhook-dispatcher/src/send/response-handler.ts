import type { Dispatcher } from 'undici'
import type { FailureCode, Outcome } from '../delivery/delivery'
import type { Carrier } from './connections'

export interface PostResult {
  outcome: Outcome
  /** False when the connection was never made, so that another address of the host may be tried. */
  connected: boolean
  /** A kept connection died before one byte of an answer: the receiver closed it before it could read the request. */
  stale: boolean
}

/** Time for a body after its status line has decided: long enough to keep the connection, or to quote an error. */
const LINGER_MS = 1_000
const BODY_BYTES_MAX = 16_384
const SNIPPET_BYTES = 1_024
const SNIPPET_CHARS = 300

/** Handles one response. The status line decides; what follows is read to a bound, for a moment, and never trusted. */
export class ResponseHandler implements Dispatcher.DispatchHandler {
  #settle: ((result: PostResult) => void) | undefined
  #controller: Dispatcher.DispatchController | undefined
  #client: { carrier(): Carrier } | undefined
  #carrier: Carrier | undefined
  #linger: NodeJS.Timeout | undefined
  #status = 0
  #bytes = 0
  #kept: Buffer[] = []

  constructor(settle: (result: PostResult) => void) {
    this.#settle = settle
  }

  timeout(): void {
    this.#end({ kind: 'failed', code: 'timeout' })
    this.#controller?.abort(new Error('The deadline has passed.'))
  }

  timeoutUnlessConnected(): void {
    if (!this.#controller) this.timeout()
  }

  readonly queuedAt = (client: { carrier(): Carrier }): void => {
    this.#client = client
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#carrier = this.#client?.carrier()
    // A connection that came too late must not carry a request whose attempt has ended.
    if (!this.#settle) controller.abort(new Error('The deadline has passed.'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) return
    this.#status = status
    this.#linger = setTimeout(() => this.#stopReading(controller), LINGER_MS)
    if (status < 300) this.#end({ kind: 'delivered', status })
    // A compressed answer is not unpacked, and so not quoted either.
    else if (headers['content-encoding'] !== undefined) this.#end({ kind: 'failed', code: 'http_status', status })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settle && this.#bytes < SNIPPET_BYTES) this.#kept.push(chunk.subarray(0, SNIPPET_BYTES - this.#bytes))
    this.#bytes += chunk.length
    if (this.#bytes > BODY_BYTES_MAX) this.#stopReading(controller)
  }

  onResponseEnd(): void {
    this.#decide()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#status !== 0) this.#decide()
    else this.#fail(failureOf(error))
  }

  #stopReading(controller: Dispatcher.DispatchController): void {
    this.#decide()
    controller.abort(new Error('Enough was read.'))
  }

  #decide(): void {
    clearTimeout(this.#linger)
    const snippet = readable(Buffer.concat(this.#kept))
    this.#end({ kind: 'failed', code: 'http_status', status: this.#status, ...(snippet ? { snippet } : {}) })
  }

  #fail(code: FailureCode): void {
    const stale = code === 'connection_reset' && this.#carrier?.reused === true && this.#carrier.received() === 0
    this.#end({ kind: 'failed', code }, stale)
  }

  #end(outcome: Outcome, stale = false): void {
    this.#settle?.({ outcome, connected: this.#controller !== undefined, stale })
    this.#settle = undefined
    this.#kept = []
  }
}

const decoder = new TextDecoder('utf-8')

/** Text that a database and a page can hold: valid UTF-8, no control characters, short. */
function readable(bytes: Buffer): string {
  const text = decoder.decode(bytes).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\ufffd\s]+/gu, ' ')
  return text
    .trim()
    .slice(0, SNIPPET_CHARS)
    .toWellFormed()
    .replace(/\ufffd/g, '')
}

const FAILURES: readonly [pattern: RegExp, code: FailureCode][] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection_reset'],
  [/^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES|ERR_HTTP)/, 'invalid_response'],
  [/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/, 'tls_error'],
]

function failureOf(error: Error): FailureCode {
  // An unsolicited 100 or 101 closes the connection under this message.
  if (error.name === 'HTTPParserError' || /^bad (upgrade|response)$/.test(error.message)) return 'invalid_response'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return FAILURES.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection_failed'
}
