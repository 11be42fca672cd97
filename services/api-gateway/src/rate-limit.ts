/** What one replica may let through before it asks again, and how much is left for all. */
export interface Lease {
  granted: number
  remaining: number
  resetsInMs: number
}

export interface Verdict {
  allowed: boolean
  limit: number
  remaining: number
  resetsInMs: number
}

interface Held {
  left: number
  remaining: number
  endsAt: number
  /** Set while a lease is being asked for: everyone who waits shares it. */
  asking?: Promise<void>
}

const BUCKETS_MAX = 100_000
export const WINDOW_MS = 60_000

/**
 * A limit that all replicas keep together: each takes a part of the window's allowance from the database and spends it from memory.
 * It never lets more than the limit through; up to a ninth of it may lie unused in a replica that a caller has left.
 */
export function sharedLimit(limit: number, lease: (bucket: string, limit: number) => Promise<Lease>, clock: () => number) {
  const buckets = new Map<string, Held>()

  const ask = async (bucket: string, held: Held) => {
    const { granted, remaining, resetsInMs } = await lease(bucket, limit)
    Object.assign(held, { left: granted, remaining, endsAt: clock() + resetsInMs })
  }
  return async (bucket: string): Promise<Verdict> => {
    const held = bounded(buckets, bucket, (): Held => ({ left: 0, remaining: 1, endsAt: 0 }))
    // What is left of a lease ends with its window.
    const isOver = () => clock() >= held.endsAt
    while (isOver() || (held.left === 0 && held.remaining > 0)) {
      held.asking ??= ask(bucket, held).finally(() => {
        delete held.asking
      })
      await held.asking
    }
    const allowed = held.left > 0
    if (allowed) held.left -= 1
    return { allowed, limit, remaining: held.left + held.remaining, resetsInMs: Math.max(0, held.endsAt - clock()) }
  }
}

/** A limit that each replica keeps for itself, without asking anybody: for callers of whom nothing is known yet. */
export function localLimit(limit: number, clock: () => number) {
  const buckets = new Map<string, { used: number; endsAt: number }>()
  return (bucket: string): Verdict => {
    const held = bounded(buckets, bucket, () => ({ used: 0, endsAt: 0 }))
    const now = clock()
    if (now >= held.endsAt) Object.assign(held, { used: 0, endsAt: now + WINDOW_MS })
    held.used += 1
    const resetsInMs = held.endsAt - now
    return { allowed: held.used <= limit, limit, remaining: Math.max(0, limit - held.used), resetsInMs }
  }
}

/** Maps keep the order of insertion: the bucket that was made first goes when there are too many. */
function bounded<T>(buckets: Map<string, T>, bucket: string, make: () => T): T {
  const known = buckets.get(bucket)
  if (known) return known
  for (const oldest of buckets.keys()) {
    if (buckets.size < BUCKETS_MAX) break
    buckets.delete(oldest)
  }
  const made = make()
  buckets.set(bucket, made)
  return made
}

/** The bucket of an address: one for each IPv4 address, one for each /64 of IPv6, which is what a single host is given. */
export function addressBucket(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}
