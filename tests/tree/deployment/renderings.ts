import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalChain, testAccounts } from '@ponte/local-servers'
import { makeEnv, PRODUCTION_FILES, productionEnv, read, readCompose } from './compose'
import type { Container, Variables } from './container'
import { renderOverlay } from './kubernetes'
import { type Backing, operatedDatabases, scriptedDatabases } from './servers'
import { signedSession, startBaseChain, startDevelopmentChain } from './surroundings'

/** Around an installation here. */
export interface Surroundings {
  chain: LocalChain
  secondNodeUrl: string
  /** Host and port of sources of rates and of the collector of traces. */
  sources: string
  identity: { host: string; token(): Promise<string> }
}

export interface Rendering {
  backing: Backing
  /** The rendering's names of PostgreSQL and RabbitMQ. */
  servers: { postgres: string; broker: string }
  /** Its texts for what stands around it, and what stands for each here: hosts, and the addresses that an operator has to fill in. */
  moved: readonly (readonly [string, string])[]
  containers(program: string): Container[]
  /** A fresh user's session. */
  token(): Promise<string>
}

interface Kind {
  issuer: string
  startChain(): Promise<LocalChain>
  render(around: Surroundings): Rendering
}

const PLACEHOLDER = (n: number) => `0x${String(n).padStart(40, '0')}`
/** PostgreSQL's own, where nothing is set. */
const DEFAULT_CONNECTIONS = 100
const FEE_RECEIVER = testAccounts[1].address

function composed(files: readonly string[], changed: (fresh: Variables) => Variables) {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-env-'))
  const env = changed(makeEnv(folder).variables())
  rmSync(folder, { recursive: true })
  const { container, environmentOf } = readCompose(files)
  const { RABBITMQ_DEFAULT_USER: username = '', RABBITMQ_DEFAULT_PASS: password = '' } = environmentOf('rabbitmq', env)
  const [, maxConnections] = /^max_connections = (\d+)$/m.exec(read('infra/postgres/ponte.conf')) ?? []
  return {
    backing: {
      statements: scriptedDatabases(environmentOf('postgres', env)),
      rules: [],
      maxConnections: Number(maxConnections),
      broker: { username, password },
    },
    servers: { postgres: '@postgres:5432', broker: '@rabbitmq:5672' },
    containers: (program: string) => [container(program, env)],
  }
}

export const renderings: Record<string, Kind> = {
  'the development overlay': {
    issuer: 'development',
    startChain: startDevelopmentChain,
    render({ chain }) {
      const overlay = renderOverlay('development', { RPC_URLS: chain.rpcUrl })
      const { RABBITMQ_DEFAULT_USER: username = '', RABBITMQ_DEFAULT_PASS: password = '' } = overlay.secret('rabbitmq')
      const { JWT_SECRET = '' } = overlay.secret('api-gateway-secrets')
      return {
        backing: {
          statements: scriptedDatabases(overlay.secret('postgres')),
          rules: [],
          maxConnections: DEFAULT_CONNECTIONS,
          broker: { username, password },
        },
        servers: { postgres: '@postgres:5432', broker: '@rabbitmq:5672' },
        moved: [],
        containers: overlay.containers,
        token: async () => signedSession(JWT_SECRET, 'development'),
      }
    },
  },

  'the production overlay': {
    issuer: 'https://auth.example/auth/v1',
    startChain: startBaseChain,
    render({ chain, secondNodeUrl, sources, identity }) {
      const overlay = renderOverlay('production', {
        RPC_URLS: `${chain.rpcUrl},${secondNodeUrl}`,
        RELAYER_PRIVATE_KEY: testAccounts[5].privateKey,
        GASLESS_PRIVATE_KEY: testAccounts[6].privateKey,
      })
      const { username, password } = new URL(overlay.secret('rabbitmq-default-user').connection_string ?? '')
      return {
        backing: { ...operatedDatabases(overlay), broker: { username, password } },
        servers: { postgres: '@postgres-rw:5432', broker: '@rabbitmq.ponte.svc:5672' },
        moved: [
          ['https://auth.example/auth/v1/.well-known', `http://${identity.host}/auth/v1/.well-known`],
          ['https://api.coinbase.com', `http://${sources}`],
          ['https://api.coingecko.com', `http://${sources}`],
          ['http://otel-collector.monitoring:4318', `http://${sources}`],
          [PLACEHOLDER(1), chain.routerAddress],
          [PLACEHOLDER(2), FEE_RECEIVER],
        ],
        containers: overlay.containers,
        token: identity.token,
      }
    },
  },

  compose: {
    issuer: 'http://127.0.0.1:8090/auth/v1',
    startChain: startDevelopmentChain,
    render: ({ chain, identity }) => ({
      ...composed(['docker-compose.yml'], fresh => fresh),
      moved: [
        ['http://chain:8545', chain.rpcUrl],
        ['ws://chain:8545', chain.wsUrl],
        ['http://development:8090', `http://${identity.host}`],
      ],
      token: identity.token,
    }),
  },

  'compose in production': {
    issuer: 'https://auth.example/auth/v1',
    startChain: startBaseChain,
    render: ({ chain, secondNodeUrl, identity }) => ({
      // An operator writes these addresses into .env at once.
      ...composed(PRODUCTION_FILES, fresh =>
        productionEnv(fresh, {
          TOKEN_ADDRESS: chain.usdcAddress,
          ROUTER_ADDRESS: chain.routerAddress,
          DEPOSIT_FACTORY: chain.routerAddress,
          FEE_RECEIVERS: FEE_RECEIVER,
          RPC_URLS: `${chain.rpcUrl},${secondNodeUrl}`,
          RATE_CHAINLINK_RPC_URL: chain.rpcUrl,
          RATE_CHAINLINK_ADDRESS: chain.rateFeedAddress,
          AUTH_URL: 'https://auth.example',
          JWKS_URL: `http://${identity.host}/auth/v1/.well-known/jwks.json`,
          JWT_ISSUER: 'https://auth.example/auth/v1',
        }),
      ),
      moved: [],
      token: identity.token,
    }),
  },
}
