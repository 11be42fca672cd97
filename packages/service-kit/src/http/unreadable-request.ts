import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { ApiError, errorTable, toProblem } from '@ponte/contracts'
import type { RequestHandler } from 'express'

/** Refuses a target that is not a path of this server, and HTTP/1.1 without a Host: no route, metric or log line should have to judge them. */
export const readableRequest: RequestHandler = (req, _res, next) => {
  if (!req.url.startsWith('/') || req.url.includes('#'))
    throw new ApiError('invalid_request', 'The request target must be a path, such as /ping, without a fragment.')
  if (req.httpVersion === '1.1' && req.headers.host === undefined) throw new ApiError('invalid_request', 'Send the header Host.')
  next()
}

const REFUSALS: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError('headers_too_large', 'Send at most 16 KiB of headers.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new ApiError('payload_too_large', 'Send chunks without extensions.'),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('request_timeout', 'Send the whole request sooner.'),
}
const MALFORMED = new ApiError('invalid_request', 'The request is not valid HTTP.')
const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
}

/** Answers what the parser refused with a problem too, and closes the connection. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, hasBegun: boolean): void {
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') return void socket.destroy()
  const refusal = REFUSALS[error.code ?? ''] ?? MALFORMED
  const { status } = errorTable[refusal.code]
  const requestId = randomUUID()
  const body = JSON.stringify(toProblem(refusal, requestId))
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    'Connection: close',
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
