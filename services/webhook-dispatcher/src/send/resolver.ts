import { Resolver } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'

/** All addresses of a host name, IPv4 first. Throws when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>

const TRY_TIMEOUT_MS = 1_500
const TRIES = 2
const CACHE_MS_MAX = 30_000
const CACHE_ENTRIES_MAX = 10_000

/**
 * Asks DNS over its own sockets: `dns.lookup` would share a few threads of the process, which one black-holed zone can hold.
 * Answers are kept for their time to live, 30 s at most; equal questions of one moment are asked once.
 */
export function createResolver(options: { servers?: readonly string[]; now?: () => number } = {}): Resolve {
  const now = options.now ?? (() => performance.now())
  const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES })
  if (options.servers?.length) resolver.setServers(options.servers)
  const cache = new LRUCache<string, { addresses: readonly string[]; until: number }>({ max: CACHE_ENTRIES_MAX })
  const asking = new Map<string, Promise<readonly string[]>>()

  const ask = async (host: string): Promise<readonly string[]> => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host, { ttl: true }), resolver.resolve6(host, { ttl: true })])
    const records = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])]
    if (records.length === 0) throw new Error('The name has no address.')
    const ttlMs = Math.min(...records.map(record => record.ttl)) * 1000
    const addresses = records.map(record => record.address)
    if (ttlMs > 0) cache.set(host, { addresses, until: now() + Math.min(ttlMs, CACHE_MS_MAX) })
    return addresses
  }
  return async host => {
    const known = cache.get(host)
    if (known && known.until > now()) return known.addresses
    const asked = asking.get(host) ?? ask(host).finally(() => asking.delete(host))
    asking.set(host, asked)
    return asked
  }
}
