import { testAccounts } from '@ponte/local-servers'
import { parse } from 'yaml'
import { interpolate, PRODUCTION_FILES, productionEnv, read, readCompose } from './compose'
import { LASTING_IMAGE, type Variables, variablesOf } from './container'
import { creators, programs, unknownSettings } from './programs'

const { services, environmentOf } = readCompose(PRODUCTION_FILES)
const running = Object.entries(services).filter(([, { profiles = [] }]) => !profiles.includes('dev') && !profiles.includes('ops'))

const env = productionEnv(
  Object.fromEntries(Object.entries(variablesOf(read('.env.example'))).map(([name, value]) => [name, value || 'ab'.repeat(32)])),
  {
    FEE_RECEIVERS: testAccounts[1].address,
    RPC_URLS: 'https://one.example,https://two.example',
    RATE_CHAINLINK_RPC_URL: 'https://one.example',
    RATE_CHAINLINK_ADDRESS: testAccounts[5].address,
    JWKS_URL: 'https://auth.example/auth/v1/.well-known/jwks.json',
  },
)

it.each(programs)('gives %s settings with which it starts in production', async name => {
  const settings = environmentOf(name, env)
  expect(settings.NODE_ENV).toBe('production')
  await creators[name](settings).stop()
})

it.each(programs)('gives %s no setting that it does not have', name => {
  for (const place of [readCompose(), readCompose(PRODUCTION_FILES)])
    expect(unknownSettings(name, Object.keys(place.environmentOf(name, env)))).toEqual([])
})

it.each([2, 3])(
  'gives the listener and the relayer of network %i settings with which they start, of its own chain and database',
  async network => {
    const of = (name: string) => `NETWORK_${network}_${name}`
    const further = {
      ...env,
      ...{ [`CHAIN_LISTENER_${network}_DB_PASSWORD`]: 'secret', [of('CHAIN_ID')]: '10', [of('RPC_URLS')]: 'https://three.example' },
      ...{ [of('ROUTER_ADDRESSES')]: env.ROUTER_ADDRESS, [of('TOKEN_ADDRESS')]: testAccounts[6].address },
      ...{ REORG_WINDOW: '700', [of('REORG_WINDOW')]: '900' },
      ...{ [of('RELAYER_KMS_KEY')]: 'alias/sweeps', [of('GASLESS_KMS_KEY')]: 'alias/refunds', [of('COIN_USDC')]: '2500' },
    }
    for (const name of ['chain-listener', 'relayer'] as const) {
      const settings = environmentOf(`${name}-${network}`, further as Variables)
      expect(unknownSettings(name, Object.keys(settings))).toEqual([])
      expect(settings).toMatchObject({ CHAIN_ID: '10', OTHER_NETWORK: 'true', RPC_URLS: 'https://three.example', REORG_WINDOW: '900' })
      expect(settings.DATABASE_URL).toContain(`/chain_listener_${network}`)
      await creators[name](settings).stop()
    }
  },
)

it('.env has what compose reads, and nothing else', () => {
  const text = [...PRODUCTION_FILES, 'infra/compose/Caddyfile'].map(read).join('\n')
  const example = [...read('.env.example').matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name = '']) => name)
  const demanded = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name)
  expect(demanded.filter(name => !example.includes(name))).toEqual([])
  expect(example.filter(name => !text.includes(`\${${name}`))).toEqual([])
})

it('.env decides each setting that the sections of incidents name', () => {
  const named = new Set([...read('docs/operating/incidents.md').matchAll(/`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`/g)].map(([, name = '']) => name))
  const settings = [...named].filter(name => programs.some(program => unknownSettings(program, [name]).length === 0))
  expect(settings.length).toBeGreaterThan(10)
  const decided = (name: string) => programs.some(program => services[program]?.environment?.[name]?.includes('${'))
  expect(settings.filter(name => !decided(name))).toEqual([])
})

it('publishes the proxy alone, so that every service may have replicas', () => {
  const published = running.filter(([, { ports = [] }]) => ports.some(port => !port.startsWith('127.0.0.1:'))).map(([name]) => name)
  expect(published).toEqual(['proxy'])
  for (const name of programs) expect(services[name]?.ports).toBeUndefined()
  expect(environmentOf('api-gateway', env).TRUSTED_PROXIES).toBe('1')
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

it('names each image by its whole version', () => {
  for (const [, { image = '' }] of running) expect(interpolate(image, env)).toMatch(LASTING_IMAGE)
})

it('takes metrics from every program', () => {
  const { scrape_configs } = parse(read('infra/prometheus/prometheus.yaml')) as {
    scrape_configs: { dns_sd_configs: { names: string[] }[] }[]
  }
  const further = [2, 3].flatMap(network => [`chain-listener-${network}`, `relayer-${network}`])
  expect(scrape_configs[0]?.dns_sd_configs?.[0]?.names.sort()).toEqual([...programs, ...further].sort())
})

it('keeps backups of what PostgreSQL writes in the folder that its image has', () => {
  const [, major = ''] = /^FROM postgres:(\d+)\./m.exec(read('infra/compose/postgres.Dockerfile')) ?? []
  expect(read('infra/compose/pgbackrest.conf')).toContain(`pg1-path=/var/lib/postgresql/${major}/docker`)
  expect(read('docker-compose.yml')).toContain(`image: postgres:${major}.`)
})
