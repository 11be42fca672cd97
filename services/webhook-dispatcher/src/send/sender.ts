import { type AddressRange, type Destination, isAddressAllowed, vetWebhookUrl } from '@ponte/contracts'
import { buildConnector, Pool } from 'undici'
import type { FailureCode, Outcome } from '../delivery'
import { memoize } from '../memoize'
import type { Resolve } from './resolver'
import { type PostResult, ResponseHandler } from './response-handler'
import { sign } from './signature'

export interface SenderOptions {
  resolve: Resolve
  /** Ranges re-opened for a receiver on this machine. */
  allowed?: readonly AddressRange[]
  /** Public ranges that nothing is sent to, such as the operator's own. */
  denied?: readonly AddressRange[]
  /** Wall time of one attempt, from DNS to the status line (specification, delivery rule 5). */
  deadlineMs?: number
  /** How long a connection is kept for the next delivery. */
  idleMs?: number
  /** Certificate authorities instead of the well-known ones. */
  ca?: string | undefined
}

export interface Sender {
  send(webhook: { url: string; body: Buffer; secret: string }): Promise<{ outcome: Outcome; durationMs: number }>
  /** Closes the connections of hosts that nothing was sent to lately. */
  sweep(): void
  stop(): Promise<void>
}

const DEADLINE_MS = 15_000
const CONNECT_TIMEOUT_MS = 5_000
const ADDRESSES_TRIED = 3
const CONNECTIONS_PER_HOST = 128
/** Shorter than what common servers keep, so that a delivery does not meet a connection that is just being closed. */
const IDLE_MS = 4_000
const POOLS_MAX = 2_000
const POOL_IDLE_MS = 30_000
interface PinnedPool {
  pool: Pool
  usedAt: number
  inUse: number
}

/**
 * The only thing here that talks to the outside, and so the only place where an address is vetted: the literal in the URL, or every
 * address that its name resolves to, and then it connects to that very address. No redirect, no proxy, no decompression.
 */
export function createSender(options: SenderOptions): Sender {
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS
  const pools = new Map<string, PinnedPool>()
  const vet = memoize(POOLS_MAX, vetWebhookUrl)

  const poolOf = (destination: Destination, address: string): PinnedPool => {
    const key = `${destination.protocol}//${destination.host}:${destination.port} ${address}`
    const known = pools.get(key)
    if (known) return known
    if (pools.size >= POOLS_MAX) closeIdle(pools, 0)
    const made = { pool: pinnedPool(destination, address, options), usedAt: performance.now(), inUse: 0 }
    pools.set(key, made)
    return made
  }
  const attempt = async (url: string, body: Buffer, secret: string, deadline: Deadline): Promise<Outcome> => {
    const { destination } = vet(url)
    if (!destination) return { kind: 'refused', reason: 'destination_not_allowed' }
    const addresses = await addressesOf(destination, options.resolve, deadline)
    if (typeof addresses === 'string') return { kind: 'failed', code: addresses }
    if (!addresses.every(address => isAddressAllowed(address, options))) return { kind: 'refused', reason: 'destination_not_allowed' }
    const signature = sign(body, secret)
    let last: PostResult = { outcome: { kind: 'failed', code: 'dns_error' }, unreachable: true }
    for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
      if (!last.unreachable || deadline.passed()) break
      const pinned = poolOf(destination, address)
      pinned.inUse += 1
      last = await post(pinned.pool, destination, body, signature, deadline)
      pinned.inUse -= 1
      pinned.usedAt = performance.now()
    }
    return last.outcome
  }
  return {
    async send({ url, body, secret }) {
      const start = performance.now()
      const deadline = createDeadline(deadlineMs)
      const outcome = await attempt(url, body, secret, deadline).finally(deadline.clear)
      return { outcome, durationMs: Math.round(performance.now() - start) }
    },
    sweep: () => closeIdle(pools, POOL_IDLE_MS),
    async stop() {
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()))
      pools.clear()
    },
  }
}

function closeIdle(pools: Map<string, PinnedPool>, idleMs: number): void {
  for (const [key, { pool, usedAt, inUse }] of pools) {
    if (inUse > 0 || performance.now() - usedAt < idleMs) continue
    pools.delete(key)
    void pool.destroy()
  }
}

/** Connections of one host to one vetted address; TLS still proves the host name. Undici's own timeouts restart with each byte, so they are off. */
function pinnedPool({ protocol, host, port, literal }: Destination, address: string, { ca, idleMs }: SenderOptions): Pool {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, rejectUnauthorized: true, allowH2: false, ...(ca ? { ca } : {}) })
  const urlHost = host.includes(':') ? `[${host}]` : host
  return new Pool(`${protocol}//${urlHost}:${port}`, {
    connect: (target, callback) => connect({ ...target, hostname: address, ...(literal ? {} : { servername: host }) }, callback),
    connections: CONNECTIONS_PER_HOST,
    pipelining: 1,
    keepAliveTimeout: idleMs ?? IDLE_MS,
    keepAliveMaxTimeout: idleMs ?? IDLE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  })
}

/** One moment at which everything about an attempt is over, whatever the other side still sends. */
interface Deadline {
  passed(): boolean
  onPass(end: () => void): void
  clear(): void
}

function createDeadline(ms: number): Deadline {
  const ends: (() => void)[] = []
  let passed = false
  const timer = setTimeout(() => {
    passed = true
    for (const end of ends) end()
  }, ms)
  return { passed: () => passed, onPass: end => void ends.push(end), clear: () => clearTimeout(timer) }
}

async function addressesOf(destination: Destination, resolve: Resolve, deadline: Deadline): Promise<readonly string[] | FailureCode> {
  if (destination.literal !== undefined) return [destination.literal]
  const late = new Promise<FailureCode>(end => deadline.onPass(() => end('timeout')))
  return Promise.race([resolve(destination.host).catch((): FailureCode => 'dns_error'), late])
}

function post(pool: Pool, destination: Destination, body: Buffer, signature: string, deadline: Deadline): Promise<PostResult> {
  return new Promise(resolve => {
    const handler = new ResponseHandler(resolve)
    deadline.onPass(() => handler.timeout())
    const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature, 'User-Agent': 'Ponte-Webhooks/1' }
    pool.dispatch({ path: destination.path, method: 'POST', headers, body }, handler)
  })
}
