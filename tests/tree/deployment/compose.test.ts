import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiGatewayConfig, createApiGateway } from '@ponte/api-gateway'
import { chainListenerConfig, createChainListener, createRelayer, relayerConfig } from '@ponte/chain-listener'
import { testAccounts } from '@ponte/local-servers'
import { createOrders, ordersConfig } from '@ponte/orders'
import { readConfig, silentLogger } from '@ponte/service-kit'
import { createSubscriptions, subscriptionsConfig } from '@ponte/subscriptions'
import { createWebhookDispatcher, webhookDispatcherConfig } from '@ponte/webhook-dispatcher'
import { parse, type ScalarTag, type Tags } from 'yaml'

// infra/compose/production.yml laid over docker-compose.yml as Compose does it: maps are merged, a list of ports is emptied by `!reset`, commands are replaced.

const root = join(__dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const RESET = '!reset'
const reset: ScalarTag = { tag: RESET, resolve: () => RESET }
const resetList = { tag: RESET, collection: 'seq' as const, resolve: () => RESET }
const yaml = { merge: true, customTags: (tags: Tags) => [...tags, reset, resetList as never] }

interface Service {
  image?: string
  profiles?: string[]
  ports?: string[]
  restart?: string
  environment?: Record<string, string>
  logging?: { driver: string; options: Record<string, string> }
  deploy?: { resources: { limits: { cpus: string; memory: string } } }
}

function merged(base: unknown, over: unknown): unknown {
  if (over === RESET) return undefined
  if (!isMap(base) || !isMap(over)) return over
  return { ...base, ...Object.fromEntries(Object.entries(over).map(([key, value]) => [key, merged(base[key], value)])) }
}
const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const { services } = merged(parse(read('docker-compose.yml'), yaml), parse(read('infra/compose/production.yml'), yaml)) as {
  services: Record<string, Service>
}
const running = Object.entries(services).filter(([, { profiles = [] }]) => !profiles.includes('dev'))

/** An operator's .env: that of the script, with what infra/compose/README.md has changed. */
const env: Record<string, string> = {
  ...Object.fromEntries(
    [...read('.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value || 'ab'.repeat(32)]),
  ),
  PUBLIC_URL: 'https://pay.example.com',
  NODE_ENV: 'production',
  WEBHOOK_ALLOW_CIDRS: '',
  NETWORK: 'base',
  CHAIN_ID: '8453',
  DEVELOPMENT_CHAIN: 'false',
  FEE_RECEIVERS: testAccounts[1].address,
  FEES_BPS: '100',
  RPC_URLS: 'https://one.example,https://two.example',
  WS_URL: '',
  RATE_STATIC: '',
  RATE_CHAINLINK_RPC_URL: 'https://one.example',
  RATE_CHAINLINK_ADDRESS: testAccounts[5].address,
  COIN_USDC: '3000',
  CONFIRMATIONS: '12',
  JWKS_URL: 'https://auth.example/auth/v1/.well-known/jwks.json',
  SMTP_URL: 'smtps://ponte:password@mail.example:465',
  MAIL_FROM: 'ponte@shop.example',
}
const interpolate = (text: string) =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, operator?: string, rest = '') => {
    if (env[name]) return env[name]
    if (operator === '?') throw new Error(`${name} is not in .env`)
    return operator === '-' ? rest : ''
  })
const environmentOf = (name: string) =>
  Object.fromEntries(Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [key, interpolate(String(value))]))
const given = { logger: silentLogger }
const creators: Record<string, (settings: Record<string, string>) => { stop(): Promise<void> }> = {
  'api-gateway': settings => createApiGateway(readConfig(apiGatewayConfig, settings), given),
  orders: settings => createOrders(readConfig(ordersConfig, settings), given),
  subscriptions: settings => createSubscriptions(readConfig(subscriptionsConfig, settings), given),
  'chain-listener': settings => createChainListener(readConfig(chainListenerConfig, settings), given),
  relayer: settings => createRelayer(readConfig(relayerConfig, settings), given),
  'webhook-dispatcher': settings => createWebhookDispatcher(readConfig(webhookDispatcherConfig, settings), given),
}

it.each(Object.keys(creators))('gives %s settings with which it starts in production', async name => {
  const settings = environmentOf(name)
  expect(settings.NODE_ENV).toBe('production')
  await creators[name]?.(settings).stop()
})

it('publishes the proxy alone, so that every service may have replicas', () => {
  const published = running.filter(([, { ports = [] }]) => ports.some(port => !port.startsWith('127.0.0.1:'))).map(([name]) => name)
  expect(published).toEqual(['proxy'])
  for (const name of Object.keys(creators)) expect(services[name]?.ports).toBeUndefined()
  expect(environmentOf('api-gateway').TRUSTED_PROXIES).toBe('1')
})

it('bounds every container and its log, and has each come back', () => {
  for (const [name, { deploy, logging, restart }] of running) {
    expect([name, deploy?.resources.limits.memory, logging?.options['max-size'], restart]).toEqual([
      name,
      expect.stringMatching(/^\d+[MG]$/),
      expect.stringMatching(/^\d+m$/),
      'unless-stopped',
    ])
  }
})

it('names each image that is not made here by its whole version', () => {
  for (const [, { image = '' }] of running) expect(image).toMatch(/^(ponte\/[\w-]+:local|[\w/-]+:v?\d+\.\d+(\.\d+)?[\w.-]*)$/)
})

it('takes metrics from every program', () => {
  const { scrape_configs } = parse(read('infra/prometheus/prometheus.yaml')) as {
    scrape_configs: { dns_sd_configs: { names: string[] }[] }[]
  }
  expect(scrape_configs[0]?.dns_sd_configs[0]?.names.sort()).toEqual(Object.keys(creators).sort())
})

it('keeps backups of what PostgreSQL writes in the folder that its image has', () => {
  const [, major = ''] = /^FROM postgres:(\d+)\./m.exec(read('infra/compose/postgres.Dockerfile')) ?? []
  expect(read('infra/compose/pgbackrest.conf')).toContain(`pg1-path=/var/lib/postgresql/${major}/docker`)
  expect(read('docker-compose.yml')).toContain(`image: postgres:${major}.`)
})
