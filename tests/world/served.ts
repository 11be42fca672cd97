import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Environment, ProcessName } from '@ponte/all-in-one'
import { serviceNames } from '@ponte/all-in-one'
import { spawnTied } from '@ponte/local-servers'
import type { World } from './world'

const program = join(__dirname, '../../services/all-in-one/dist/serve.js')

interface Ready {
  event: 'ready'
  service: ProcessName
  replica: number
  pid: number
  url: string
  ops_url: string
}
interface Serving {
  event: 'serving'
  gateway_urls: string[]
  /** The ops ports, as an operator's commands take them. */
  environment: Environment
}

export interface Served extends Omit<Serving, 'event'> {
  /** The process that runs as this replica now. */
  replica(service: ProcessName, index?: number): Ready
  log(): string
  stop(): Promise<number | null>
}

/** The services as `npm run serve` starts them, on the servers of this world. */
export async function startServed(world: World, replicas: string, more: Environment = {}): Promise<Served> {
  const { place } = world
  const folder = mkdtempSync(join(tmpdir(), 'ponte-served-'))
  const databases = serviceNames.map(name => [`${name.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`, place.databaseUrl(name)])
  const child = spawnTied(
    process.execPath,
    [program, '--amqp', place.amqp.url, '--rpc', place.chain.rpcUrl, '--replicas', replicas, '--state', folder],
    {
      endSignal: 'TERM',
      env: {
        PATH: process.env.PATH,
        ...Object.fromEntries(databases),
        AMQP_NAMESPACE: place.amqp.namespace,
        TOKEN_ADDRESS: place.chain.usdcAddress,
        ROUTER_ADDRESS: place.chain.routerAddress,
        RATE_STATIC: '5.42',
        CONFIRMATIONS: '1',
        JWT_ISSUER: place.identity.issuer,
        JWT_AUDIENCE: place.identity.audience,
        JWKS_URL: `${place.identity.url}/auth/v1/.well-known/jwks.json`,
        AUTH_URL: place.identity.url,
        LOG_LEVEL: 'warn',
        ...more,
      },
    },
  )
  const running = new Map<string, Ready>()
  let log = ''
  child.stderr.on('data', chunk => {
    log = `${log}${chunk}`.slice(-1_000_000)
  })
  const ended = once(child, 'exit')
  const serving = await new Promise<Serving>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      const noted = JSON.parse(line) as Ready | Serving
      if (noted.event === 'ready') running.set(`${noted.service} ${noted.replica}`, noted)
      if (noted.event === 'serving') resolve(noted)
    })
    child.once('exit', code => reject(new Error(`It ended with ${code}:\n${log}`)))
  })
  return {
    ...serving,
    replica(service, index = 0) {
      const found = running.get(`${service} ${index}`)
      if (!found) throw new Error(`There is no replica ${index} of ${service}.`)
      return found
    },
    log: () => log,
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
      return child.exitCode
    },
  }
}
