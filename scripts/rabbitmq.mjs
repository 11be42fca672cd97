import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findProgram, installDebianPackage } from './debian.mjs'
import { spawnTied } from './tied-process.mjs'

/**
 * Starts a private RabbitMQ node whose ports, files and name are its own. Stopping it is a SIGKILL; started again on the same folder and port it is
 * the same node, with what its durable queues held.
 */
export async function startRabbitmq(folder, wantedPort) {
  const server = await findRabbitmq()
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  // Names are looked up here only; otherwise Erlang keeps a helper process that outlives a killed node for a moment.
  const inetrc = join(folder, 'inetrc')
  writeFileSync(inetrc, '{lookup, [file]}.\n{host, {127,0,0,1}, ["localhost"]}.\n')

  const [freePort, distributionPort, epmdPort] = await freePorts(3)
  const port = wantedPort ?? freePort
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ERL_INETRC: inetrc,
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `ponte-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distributionPort),
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
  // The node would start a port mapper that stays behind for ever; this one goes with us.
  const epmd = spawnTied(findProgram('epmd') ?? 'epmd', [], { env })
  const node = spawnTied(server, [], { env })
  const stop = () => Promise.all([kill(node), kill(epmd)])
  try {
    await startupComplete(node)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `amqp://guest:guest@127.0.0.1:${port}`, stop }
}

async function findRabbitmq() {
  // Debian's command in PATH serves only root and its own user; the script behind it serves everybody.
  const find = () => findProgram('/usr/lib/rabbitmq/bin/rabbitmq-server', 'rabbitmq-server', '/opt/homebrew/sbin/rabbitmq-server')
  if (find()) return find()
  try {
    await installDebianPackage('rabbitmq-server', 'npm test')
  } catch (error) {
    throw new Error(`${error.message}\nOr set AMQP_URL to a RabbitMQ that tests may use.`, { cause: error })
  }
  return find()
}

function startupComplete(node) {
  const lastLines = []
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

async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

// Below the range from which outgoing connections take theirs: the node binds its ports only seconds after they were found free.
async function freePorts(count) {
  const ports = new Set()
  while (ports.size < count) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

async function isFree(port) {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}

// `node scripts/rabbitmq.mjs <folder> <port>` is a node that whoever started it may kill, and start again: it ends with this process, however that ends.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, port] = process.argv.slice(2)
  console.log((await startRabbitmq(folder, Number(port))).url)
}
