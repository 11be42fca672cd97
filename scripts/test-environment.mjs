import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRabbitmq } from './rabbitmq.mjs'

const prefix = 'ponte-test-'

/**
 * The servers that tests talk to, as environment variables. What the environment names already is used as it is; the rest is started, private
 * and throw-away.
 */
export async function startTestEnvironment(startPostgres) {
  sweep()
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  // PostgreSQL may have to run as somebody else.
  chmodSync(folder, 0o711)
  const started = []
  const stop = async () => {
    await Promise.all(started.map(server => server.stop()))
    rmSync(folder, { recursive: true, force: true })
  }

  const starting = []
  const provide = (variable, start) => {
    if (process.env[variable]) return
    starting.push(
      start().then(({ url, ...server }) => {
        started.push(server)
        process.env[variable] = url
      }),
    )
  }
  provide('PONTE_TEST_POSTGRES_URL', async () => {
    const postgres = await startPostgres({
      dataDir: join(folder, 'postgres'),
      port: 0,
      password: randomBytes(12).toString('hex'),
      durable: false,
    })
    return { url: postgres.url('postgres'), stop: postgres.stop }
  })
  provide('AMQP_URL', () => startRabbitmq(join(folder, 'rabbitmq')))

  const failure = (await Promise.allSettled(starting)).find(({ status }) => status === 'rejected')
  if (failure) {
    await stop()
    throw failure.reason
  }
  return { stop }
}

/** Removes the folders of runs that were killed. */
function sweep() {
  for (const name of readdirSync(tmpdir()).filter(name => name.startsWith(prefix))) {
    const folder = join(tmpdir(), name)
    const owner = Number.parseInt(name.slice(prefix.length), 10)
    if (!isRunning(owner) && lstatSync(folder).uid === process.getuid()) rmSync(folder, { recursive: true, force: true })
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

// `node scripts/test-environment.mjs` keeps the servers up, so that many test runs need not start their own.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { setUp } = await import('./setup.mjs')
  const { fail } = await import('./steps.mjs')
  await setUp().catch(fail)
  const { startPostgres } = await import('../packages/local-servers/dist/postgres/index.js')
  const { stop } = await startTestEnvironment(startPostgres)
  for (const variable of ['PONTE_TEST_POSTGRES_URL', 'AMQP_URL']) console.log(`export ${variable}='${process.env[variable]}'`)
  console.error('Ready. Put these lines into the shell that runs the tests; Ctrl-C here ends both servers.')
  const stayUp = setInterval(() => undefined, 60_000)
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      clearInterval(stayUp)
      await stop()
    })
  }
}
