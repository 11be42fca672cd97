const CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** True when the other side closed the connection that was just written to: a stale keep-alive connection, or a replica that stops. */
export function isConnectionLoss(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  return CODES.has(String(Reflect.get(error, 'code'))) || isConnectionLoss(Reflect.get(error, 'cause'))
}
