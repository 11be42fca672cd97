const CUT_OFF = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** True when the other side closed the connection that was just written to: an idle one that it gave up, or a replica that stops. */
export function isCutOff(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  return CUT_OFF.has(String(Reflect.get(error, 'code'))) || isCutOff(Reflect.get(error, 'cause'))
}
