import { parseAddress } from './private-address'

/** Where a `webhook_url` points, read once. */
export interface Destination {
  protocol: 'http:' | 'https:'
  /** Host name or address without brackets and without a trailing dot. */
  host: string
  port: number
  /** Path and query, as the request line has it. */
  path: string
  /** Set when the host is an address: nothing is resolved then, and no resolver hook would ever see it. */
  literal: string | undefined
}

/** Ports that belong to other protocols (WHATWG Fetch, port blocking): an HTTP request there may be read as something else. */
const BLOCKED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
  989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Reads a `webhook_url`; `undefined` when no webhook may ever go there: not http(s), credentials, a port of another protocol, no URL at all. */
export function readDestination(text: string): Destination | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  if (url.username !== '' || url.password !== '') return undefined
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  if (BLOCKED_PORTS.has(port)) return undefined
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (host === '') return undefined
  // Names of this machine mean its loopback address whatever a resolver says.
  const literal = host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : parseAddress(host) && host
  return { protocol: url.protocol, host, port, path: url.pathname + url.search, literal }
}
