import { type AddressPolicy, isAddressAllowed, parseAddress } from './address'

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

/** Ports of other protocols (WHATWG Fetch, port blocking): an HTTP request there may be read as something else. */
const OTHER_PROTOCOL_PORTS = [
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
  989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]

/** Ports of datastores, brokers and their cluster agents, which act on what they read or answer it without authentication. */
const DATASTORE_PORTS = [
  // SQL Server, Oracle, MySQL, PostgreSQL, Cassandra
  1433, 1434, 1521, 3306, 5432, 9042,
  // Redis, Sentinel, memcached, MongoDB, CouchDB, Elasticsearch
  6379, 6380, 26379, 11211, 27017, 27018, 27019, 5984, 9200, 9300,
  // ZooKeeper, etcd, Docker, Kafka, AMQP, Erlang's port mapper, MQTT
  2181, 2375, 2376, 2379, 2380, 9092, 5671, 5672, 25672, 4369, 1883, 8883,
]
const BLOCKED_PORTS = new Set([...OTHER_PROTOCOL_PORTS, ...DATASTORE_PORTS])

export type VettedUrl = { destination: Destination; refusal?: never } | { destination?: never; refusal: string }

/**
 * The one judgement of a `webhook_url`: the gateway answers 400 with the refusal, the dispatcher sends nothing. A destination that passes may
 * still resolve to an internal address, which is judged at each attempt.
 */
export function vetWebhookUrl(text: string): VettedUrl {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (!url || !host) return { refusal: 'must be an http:// or https:// URL' }
  if (url.username !== '' || url.password !== '') return { refusal: 'must not contain a user name or password' }
  const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
  const port = url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port)
  if (BLOCKED_PORTS.has(port))
    return { refusal: `must not use port ${port}, which belongs to another protocol: nothing is delivered there` }
  // Names of this machine mean its loopback address whatever a resolver answers.
  const literal = host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : parseAddress(host) && host
  return { destination: { protocol, host, port, path: url.pathname + url.search, literal } }
}

/** True when the host is internal by its text alone, so that a merchant can be warned before the first delivery. */
export function namesInternalHost({ host, literal }: Destination, policy: AddressPolicy = {}): boolean {
  return literal === undefined ? /(^|\.)(local|internal)$/.test(host) : !isAddressAllowed(literal, policy)
}
