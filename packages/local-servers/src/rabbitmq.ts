import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { findProgram, installDebianPackage } from './debian'
import { freePort } from './ports'
import { spawnTied, type TiedProcess } from './tied-process'

const execute = promisify(execFile)

export interface Rabbitmq {
  url: string
  pid: number | undefined
  /** SIGKILL. Started again on the same folder and port it is the same node, with what its durable queues held. */
  stop(): Promise<void>
  /** Runs `rabbitmqctl` with these arguments on the node; resolves to what it prints. */
  control(...args: string[]): Promise<string>
}

/** Starts a private RabbitMQ node whose ports, files and name are its own. */
export async function startRabbitmq(folder: string, port?: number): Promise<Rabbitmq> {
  const server = await findRabbitmq()
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  // Names are looked up here only; otherwise Erlang keeps a helper process that outlives a killed node for a moment.
  const inetrc = join(folder, 'inetrc')
  writeFileSync(inetrc, '{lookup, [file]}.\n{host, {127,0,0,1}, ["localhost"]}.\n')

  const nodePort = port ?? (await freePort())
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ERL_INETRC: inetrc,
    ERL_EPMD_PORT: String(await freePort()),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `ponte-${nodePort}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(nodePort),
    RABBITMQ_DIST_PORT: String(await freePort()),
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    // These need not exist; naming them keeps the machine's own settings out.
    RABBITMQ_CONF_ENV_FILE: join(folder, 'rabbitmq-env.conf'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-noinput -kernel inet_dist_use_interface {127,0,0,1}',
    // Lets the start script become the node instead of waiting beside it.
    RABBITMQ_ALLOW_INPUT: '1',
  }
  // The node would start a port mapper that stays behind for ever; this one ends with this process.
  const epmd = spawnTied(findProgram('epmd') ?? 'epmd', [], { env, endSignal: 'KILL', group: true })
  const node = spawnTied(server, [], { env, endSignal: 'KILL', group: true })
  const stop = async () => {
    await Promise.all([kill(node), kill(epmd)])
  }
  try {
    await startupComplete(node)
  } catch (error) {
    await stop()
    throw error
  }
  const control = async (...args: string[]) => {
    const { stdout } = await execute(join(dirname(server), 'rabbitmqctl'), ['--node', env.RABBITMQ_NODENAME, ...args], { env })
    return stdout
  }
  return { url: `amqp://guest:guest@127.0.0.1:${nodePort}`, pid: node.pid, stop, control }
}

/** The server's start script, with `rabbitmqctl` beside it: PONTE_RABBITMQ, an installed one, or Debian's package where it may be installed. */
async function findRabbitmq(): Promise<string> {
  // Debian's command in PATH serves only root and its own user; the script behind it serves every user.
  const installed = ['/usr/lib/rabbitmq/bin/rabbitmq-server', 'rabbitmq-server', '/opt/homebrew/sbin/rabbitmq-server']
  const find = () => process.env.PONTE_RABBITMQ ?? findProgram(...installed)
  if (!find()) {
    await installDebianPackage('rabbitmq-server', 'npm test').catch(cause => {
      throw new Error(
        `${cause.message}\nOr set PONTE_RABBITMQ to a rabbitmq-server of yours, or AMQP_URL to a running one that tests may use.`,
        { cause },
      )
    })
  }
  return find() ?? 'rabbitmq-server'
}

function startupComplete(node: TiedProcess): Promise<void> {
  const lastLines: string[] = []
  return new Promise((resolve, reject) => {
    node.stderr.resume()
    createInterface({ input: node.stdout }).on('line', line => {
      if (lastLines.push(line) > 20) lastLines.shift()
      if (line.includes('Server startup complete')) resolve()
    })
    node.once('error', reject)
    node.once('close', () => reject(new Error(`RabbitMQ did not start:\n${lastLines.join('\n')}`)))
  })
}

async function kill(child: TiedProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
