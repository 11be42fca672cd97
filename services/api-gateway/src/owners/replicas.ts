import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { every, type Logger } from '@ponte/service-kit'
import { Client, type Dispatcher } from 'undici'
import { type RenewedPool, renewedPool } from './renewed-pool'

/** Pauses before a replica that answers nothing is asked for a sign of life, between looks at it, and for the sign itself. */
const LOOK_AFTER_MS = 400
const TICK_MS = 200
const LOOK_MS = 1_200
/** Pause between two resolutions of the name. */
const RESOLVE_MS = 1_000

/** The replica was given up while it had the request; whether that had its effect is not known. */
export class SilentReplicaError extends Error {
  override name = 'SilentReplicaError'
}

type Closable = Dispatcher & { close(): Promise<void> }

export interface Replica<Pools extends Record<string, Closable>> {
  pools: { [Name in keyof Pools]: RenewedPool<Pools[Name]> }
  /** Does `work`, whose signal is aborted when the replica falls silent. */
  during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export interface Replicas<Pools extends Record<string, Closable>> {
  /** The next in turn that answers, another than `not` where there is one; rejects when none does. */
  next(not?: Replica<Pools>): Promise<Replica<Pools>>
  hasOthers(): boolean
  /** Takes one out after a connection that it refused, until it answers again. */
  suspect(replica: Replica<Pools>): void
  silent(): number
  start(): Promise<void>
  stop(): Promise<void>
}

type Entry<Pools extends Record<string, Closable>> = Replica<Pools> & {
  isSilent: boolean
  /** Asks for a sign of life where one is due. */
  look(): Promise<void>
  silence(reason: string): void
  close(): Promise<void>
}

export interface ReplicasOptions<Pools extends Record<string, Closable>> {
  name: string
  /** Each may be a name with several addresses. */
  urls: readonly string[]
  connectionAgeMs: number
  logger: Logger
  make: { [Name in keyof Pools]: (origin: string, servername: string | null) => Pools[Name] }
}

/**
 * Processes behind the URLs of an owner, as addresses of their own, so that one that accepts connections and answers nothing (stopped, stuck, its machine gone) is found and left out.
 * A balancer in front shows one address alone; then nothing is left out, and an owner's timeout bounds the request.
 */
export function openReplicas<Pools extends Record<string, Closable>>(options: ReplicasOptions<Pools>): Replicas<Pools> {
  const { name, urls, connectionAgeMs, logger, make } = options
  const entries = new Map<string, Entry<Pools>>()
  let resolvedAt = Number.NEGATIVE_INFINITY
  let resolving: Promise<void> | undefined
  let turn = 0
  const looks = every(
    `replicas of ${name}`,
    TICK_MS,
    async () => {
      // Not waited for: a silent one must not keep the next from being looked at.
      for (const entry of entries.values()) void entry.look()
    },
    logger,
  )

  const open = (origin: string, servername: string | null): Entry<Pools> => {
    const inHand = new Map<AbortController, number>()
    let answeredAt = 0
    let isLooked = false
    const pools = Object.fromEntries(
      Object.entries(make).map(([key, makeOne]) => [key, renewedPool(connectionAgeMs, () => makeOne(origin, servername))]),
    ) as Entry<Pools>['pools']
    const entry: Entry<Pools> = {
      pools,
      isSilent: false,
      async during(work) {
        const aborted = new AbortController()
        inHand.set(aborted, performance.now())
        try {
          const result = await work(aborted.signal)
          answeredAt = performance.now()
          return result
        } finally {
          inHand.delete(aborted)
        }
      },
      async look() {
        const [oldest = Number.POSITIVE_INFINITY] = inHand.values()
        const isDue = entry.isSilent || performance.now() - Math.max(oldest, answeredAt) > LOOK_AFTER_MS
        if (isLooked || !isDue || entries.size < 2) return
        isLooked = true
        const isAlive = await signOfLife(origin, servername)
        isLooked = false
        if (isAlive) answeredAt = performance.now()
        if (!isAlive) entry.silence('it gave no sign of life')
        else if (entry.isSilent) {
          entry.isSilent = false
          logger.info('a replica of an owner answers again', { owner: name, replica: origin })
        }
      },
      silence(reason) {
        // On a machine that is busy all of them are slow; the last one is asked on, and an owner's timeout bounds the request.
        const isLast = ![...entries.values()].some(other => other !== entry && !other.isSilent)
        if (entry.isSilent || isLast) return
        entry.isSilent = true
        logger.warn('a replica of an owner does not answer and is left out', { owner: name, replica: origin, reason })
        for (const each of inHand.keys()) each.abort(new SilentReplicaError(`${origin} does not answer: ${reason}.`))
      },
      close: async () => void (await Promise.all(Object.values(pools).map(pool => pool.close()))),
    }
    return entry
  }

  const resolve = async () => {
    const found = new Map<string, string | null>()
    for (const url of urls) for (const [origin, servername] of await originsOf(url)) found.set(origin, servername)
    for (const [origin, servername] of found) if (!entries.has(origin)) entries.set(origin, open(origin, servername))
    for (const [origin, entry] of entries) {
      if (found.has(origin)) continue
      entries.delete(origin)
      // Requests in hand are answered, or end by their own timeout.
      void entry.close()
    }
  }
  const refresh = () => {
    if (performance.now() - resolvedAt < RESOLVE_MS) return resolving
    resolvedAt = performance.now()
    resolving = resolve().catch((error: unknown) => {
      if (entries.size === 0) throw error
      logger.warn('the name of an owner cannot be resolved; its addresses of before are used', { owner: name, error })
    })
    return resolving
  }

  return {
    async next(not) {
      const refreshed = refresh()
      if (entries.size === 0) await refreshed
      else refreshed?.catch(() => undefined)
      const answering = [...entries.values()].filter(entry => !entry.isSilent)
      const others = answering.filter(entry => entry !== not)
      const candidates = others.length > 0 ? others : answering
      const chosen = candidates[turn++ % candidates.length]
      if (chosen === undefined) throw new Error(`None of the ${entries.size} replicas of ${name} answers.`)
      return chosen
    },
    hasOthers: () => [...entries.values()].filter(entry => !entry.isSilent).length > 1,
    suspect: replica => [...entries.values()].find(entry => entry === replica)?.silence('it refuses connections'),
    silent: () => [...entries.values()].filter(entry => entry.isSilent).length,
    start: async () => looks.start?.(),
    async stop() {
      await looks.stop?.()
      await Promise.all([...entries.values()].map(entry => entry.close()))
    },
  }
}

/** The origin of each address behind a URL, and the name that its certificate is of. */
async function originsOf(url: string): Promise<[string, string | null][]> {
  const { protocol, hostname, port, origin } = new URL(url)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) > 0) return [[origin, null]]
  const addresses = await lookup(hostname, { all: true })
  return addresses.map(({ address, family }) => {
    const host = family === 6 ? `[${address}]` : address
    return [`${protocol}//${host}${port ? `:${port}` : ''}`, protocol === 'https:' ? hostname : null]
  })
}

/** Any answer at all, on a connection of its own: a process that hangs accepts one and answers nothing. */
async function signOfLife(origin: string, servername: string | null): Promise<boolean> {
  const client = new Client(origin, { connectTimeout: LOOK_MS, ...(servername === null ? {} : { connect: { servername } }) })
  const late = new AbortController()
  // Our own process may be the one that stood still: what has come meanwhile is read before the time is up.
  const timer = setTimeout(() => setImmediate(() => setImmediate(() => late.abort())), LOOK_MS)
  try {
    const { body } = await client.request({ method: 'HEAD', path: '/', signal: late.signal })
    await body.dump()
    return true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    void client.destroy()
  }
}
