import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './postgres/server'
import { startRabbitmq } from './rabbitmq'

const PREFIX = 'ponte-test-'

export interface TestServers {
  /** The addresses of all that was started, by the variable in which tests look for it. */
  env: Record<string, string>
  stop(): Promise<void>
}

/**
 * The servers that tests talk to. What the environment names already is used as it is; the rest is started, private and throw-away.
 * `durable` makes the database sync each commit, as in production.
 */
export async function startTestServers({ durable }: { durable: boolean }): Promise<TestServers> {
  removeAbandoned()
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  // PostgreSQL may have to run as another user.
  chmodSync(folder, 0o711)
  const postgres = async () => {
    const password = randomBytes(12).toString('hex')
    const { url, stop } = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, password, durable })
    return { variable: 'PONTE_TEST_POSTGRES_URL', url: url('postgres'), stop }
  }
  const rabbitmq = async () => ({ variable: 'AMQP_URL', ...(await startRabbitmq(join(folder, 'rabbitmq'))) })
  const starting = [...(process.env.PONTE_TEST_POSTGRES_URL ? [] : [postgres()]), ...(process.env.AMQP_URL ? [] : [rabbitmq()])]
  const settled = await Promise.allSettled(starting)
  const started = settled.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  const stop = async () => {
    await Promise.all(started.map(server => server.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  for (const one of settled) {
    if (one.status === 'fulfilled') continue
    await stop()
    throw one.reason
  }
  return { env: Object.fromEntries(started.map(({ variable, url }) => [variable, url])), stop }
}

/** Removes the folders of runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir()).filter(name => name.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name)
    const owner = Number.parseInt(name.slice(PREFIX.length), 10)
    if (!isRunning(owner) && lstatSync(folder).uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
