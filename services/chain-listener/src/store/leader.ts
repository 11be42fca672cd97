import type { Database, Logger, Part, Sql } from '@ponte/service-kit'

/** A connection that is held, listened to, and destroyed when given back. */
interface Held extends Sql {
  release(destroy: boolean): void
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
}

export interface Leader extends Part {
  /** The epoch this replica leads under, or undefined while another one leads. */
  epoch(): bigint | undefined
  /** True once it is known who leads. */
  settled(): boolean
  /** Gives the lease up after a write was refused. The lock is tried for again. */
  resign(reason: string): void
}

export interface LeaderOptions {
  name: string
  /** The same two numbers in every replica that must exclude the others: what is led, and of which chain. */
  lock: readonly [number, number]
  /** The server ends a leader's connection, and with it the lock, when it was silent for so long. */
  silenceMs: number
  /** Begins a new epoch, after the lock is held and before anything is written under it. */
  takeLease(): Promise<bigint>
  onChange(leads: boolean): void
  logger: Logger
}

/** Any numbers; with the chain's id they name locks, apart from the migrations' lock, which has one number only. */
const LOCK_SPACES = { scan: 7_210, relay: 7_211 } as const

/** The lock of what is led of a chain. A lock is named by 32 bits; chain ids may be longer. */
export const lockOf = (led: keyof typeof LOCK_SPACES, chainId: number): [number, number] => [
  LOCK_SPACES[led],
  (chainId ^ Math.floor(chainId / 2 ** 32)) | 0,
]

/**
 * One of N replicas leads: a PostgreSQL advisory lock on a connection of its own. The connection sends a heartbeat, and the server
 * ends it (`idle_session_timeout`) when it falls silent, so that a frozen process does not hold the lock for ever; the epoch taken with
 * the lock makes sure that what such a process still tries to write changes nothing. Needs PostgreSQL 14 and no pooler in between.
 */
export function createLeader(database: Database, options: LeaderOptions): Leader {
  const { logger } = options
  const beatMs = Math.max(50, Math.floor(options.silenceMs / 4))
  let epoch: bigint | undefined
  let settled = false
  let stopped = false
  let held: Held | undefined
  let timer: NodeJS.Timeout | undefined
  let turn: Promise<void> | undefined

  const drop = (reason: string) => {
    const was = held
    held = undefined
    if (epoch !== undefined) {
      epoch = undefined
      logger.warn('this replica does not lead any more', { part: options.name, reason })
      options.onChange(false)
    }
    // Destroying the connection frees the lock, whatever state it is in.
    was?.release(true)
  }
  const tryToLead = async () => {
    const client: Held = await database.pool.connect()
    client.on('error', error => held === client && drop(error?.message ?? 'the connection failed'))
    client.on('end', () => held === client && drop('the connection ended'))
    try {
      if (!(await takesLock(client, options)) || stopped) return void client.release(true)
      held = client
    } catch (error) {
      client.release(true)
      throw error
    }
    const taken = await options.takeLease()
    if (held !== client) return
    epoch = taken
    logger.info('this replica leads', { part: options.name, epoch: taken.toString() })
    options.onChange(true)
  }
  const next = async () => {
    try {
      if (held) await beat(held, options.silenceMs)
      else await tryToLead()
      settled = true
    } catch (error) {
      logger.warn('the lead is not certain', { error })
      drop('the lock connection failed')
    }
    if (!stopped) timer = setTimeout(() => (turn = next()), beatMs)
  }
  return {
    name: options.name,
    epoch: () => epoch,
    settled: () => settled,
    resign: drop,
    busy: () => !settled && !stopped,
    async start() {
      turn = next()
      await turn
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await turn
      clearTimeout(timer)
      drop('the service stops')
    },
  }
}

async function takesLock(client: Held, { lock, silenceMs }: LeaderOptions): Promise<boolean> {
  // Raw SQL, because the lock belongs to this one connection.
  await client.query(`SET idle_session_timeout = ${silenceMs}`)
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS locked', [...lock])
  return rows[0]?.locked === true
}

/** Heartbeat, so that the server does not end the connection. Throws when the server does not answer. */
async function beat(client: Held, silenceMs: number): Promise<void> {
  let late: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_resolve, reject) => {
    late = setTimeout(() => reject(new Error('the lock connection does not answer')), silenceMs)
  })
  await Promise.race([client.query('SELECT 1'), silence]).finally(() => clearTimeout(late))
}
