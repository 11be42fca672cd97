/** Headers that a merchant may not set: they are ours, or belong to the connection and not to the request (RFC 9110, section 7.6.1). */
const RESERVED = new Set([
  'content-type',
  'user-agent',
  'x-service-signature',
  'host',
  'content-length',
  'content-encoding',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
])
const HEADERS_MAX = 10
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/i
/** Printable ASCII without blanks at its ends, so no line break can end the header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/

/** Why these cannot be sent with each delivery; null when they can. A value is never quoted: it may be a secret. */
export function refuseStaticHeaders(headers: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(headers)
  if (names.length > HEADERS_MAX) return `must be at most ${HEADERS_MAX} headers`
  if (new Set(names.map(name => name.toLowerCase())).size < names.length) return 'must not name a header twice'
  for (const name of names) {
    const lower = name.toLowerCase()
    if (!NAME.test(name)) return 'must have names of 1 to 64 letters, digits and hyphens'
    if (RESERVED.has(lower) || lower.startsWith('webhook-')) return `must not set ${lower}, which is ours or belongs to the connection`
    const value = headers[name]
    if (typeof value !== 'string' || !VALUE.test(value)) return `must have printable ASCII of 1 to 1024 characters in ${lower}`
  }
  return null
}
