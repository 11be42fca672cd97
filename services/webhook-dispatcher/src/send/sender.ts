import { type AddressRange, type Destination, isAddressAllowed, vetWebhookUrl } from '@ponte/contracts'
import type { Pool } from 'undici'
import type { FailureCode, Outcome } from '../delivery/delivery'
import { memoize } from '../memoize'
import { type ConnectionOptions, type Connections, openConnections } from './connections'
import { createDeadline, type Deadline } from './deadline'
import type { Headers } from './request-headers'
import type { Resolve } from './resolver'
import { type PostResult, ResponseHandler } from './response-handler'

export interface SenderOptions extends Partial<ConnectionOptions> {
  resolve: Resolve
  /** Ranges re-opened for a receiver on this machine. */
  allowed?: readonly AddressRange[]
  /** Public ranges that nothing is sent to, such as the operator's own. */
  denied?: readonly AddressRange[]
  /** Time for an address to connect while another one is left. */
  connectMs?: number
}

export interface Sender {
  send(webhook: { url: string; body: Buffer; headers: Headers }): Promise<{ outcome: Outcome; durationMs: number }>
  /** Closes the connections of hosts that nothing was sent to lately. */
  sweep(): void
  stop(): Promise<void>
}

/** Wall time of one attempt, from DNS to the status line (specification, delivery rule 5). */
const DEADLINE_MS = 15_000
const CONNECT_MS = 5_000
const ADDRESSES_TRIED = 3
const HOSTS_MAX = 2_000
const HOST_IDLE_MS = 30_000

interface Host {
  connections: Connections
  usedAt: number
  inUse: number
}

interface Request {
  path: string
  body: Buffer
  headers: Headers
  deadline: Deadline
  /** Ends an attempt that has not connected by then. */
  connectMs: number | undefined
}

/**
 * The only code that connects to the outside, and so the only place where an address is vetted: the literal in the URL, or every
 * address that its name resolves to, and then it connects to that very address. No redirect, no proxy, no decompression.
 */
export function createSender(options: SenderOptions): Sender {
  const { deadlineMs = DEADLINE_MS, connectMs = CONNECT_MS } = options
  const hosts = new Map<string, Host>()
  const vet = memoize(HOSTS_MAX, vetWebhookUrl)

  const hostOf = (destination: Destination, address: string): Host => {
    const key = `${destination.protocol}//${destination.host}:${destination.port} ${address}`
    const known = hosts.get(key)
    if (known) return known
    if (hosts.size >= HOSTS_MAX) closeIdle(hosts, 0)
    const connections = openConnections(destination, address, { ...options, deadlineMs })
    const made = { connections, usedAt: performance.now(), inUse: 0 }
    hosts.set(key, made)
    return made
  }
  const post = async (host: Host, request: Request): Promise<PostResult> => {
    host.inUse += 1
    const result = await dispatch(host.connections.kept, request)
    // Retry once on a stale keep-alive connection: the receiver closed it while it was idle.
    const final = result.stale && !request.deadline.passed() ? await dispatch(host.connections.fresh, request) : result
    host.inUse -= 1
    host.usedAt = performance.now()
    return final
  }
  const attempt = async (url: string, body: Buffer, headers: Headers, deadline: Deadline): Promise<Outcome> => {
    const { destination } = vet(url)
    if (!destination) return { kind: 'refused', reason: 'destination_not_allowed' }
    const { literal, host } = destination
    const addresses = literal === undefined ? await resolveInTime(host, options.resolve, deadline) : [literal]
    if (typeof addresses === 'string') return { kind: 'failed', code: addresses }
    if (!addresses.every(address => isAddressAllowed(address, options))) return { kind: 'refused', reason: 'destination_not_allowed' }
    const request = { path: destination.path, body, headers, deadline }
    const candidates = addresses.slice(0, ADDRESSES_TRIED)
    let outcome: Outcome = { kind: 'failed', code: 'dns_error' }
    for (const [index, address] of candidates.entries()) {
      const isLast = index === candidates.length - 1
      const result = await post(hostOf(destination, address), { ...request, connectMs: isLast ? undefined : connectMs })
      outcome = result.outcome
      if (result.connected || deadline.passed()) break
    }
    return outcome
  }
  return {
    async send({ url, body, headers }) {
      const start = performance.now()
      const deadline = createDeadline(deadlineMs)
      try {
        const outcome = await attempt(url, body, headers, deadline)
        return { outcome, durationMs: Math.round(performance.now() - start) }
      } finally {
        deadline.clear()
      }
    },
    sweep: () => closeIdle(hosts, HOST_IDLE_MS),
    async stop() {
      await Promise.all([...hosts.values()].map(close))
      hosts.clear()
    },
  }
}

function closeIdle(hosts: Map<string, Host>, idleMs: number): void {
  for (const [key, host] of hosts) {
    if (host.inUse > 0 || performance.now() - host.usedAt < idleMs) continue
    hosts.delete(key)
    void close(host)
  }
}

const close = ({ connections }: Host) => Promise.all([connections.kept.destroy(), connections.fresh.destroy()])

function resolveInTime(host: string, resolve: Resolve, deadline: Deadline): Promise<readonly string[] | FailureCode> {
  const late = new Promise<FailureCode>(end => deadline.onPass(() => end('timeout')))
  return Promise.race([resolve(host).catch((): FailureCode => 'dns_error'), late])
}

function dispatch(pool: Pool, { path, body, headers, deadline, connectMs }: Request): Promise<PostResult> {
  return new Promise(resolve => {
    let connecting: NodeJS.Timeout | undefined
    const handler = new ResponseHandler(result => {
      clearTimeout(connecting)
      resolve(result)
    })
    deadline.onPass(() => handler.timeout())
    if (connectMs !== undefined) connecting = setTimeout(() => handler.timeoutUnlessConnected(), connectMs)
    const tracked = { onQueued: handler.queuedAt }
    pool.dispatch({ path, method: 'POST', headers, body, ...tracked }, handler)
  })
}
