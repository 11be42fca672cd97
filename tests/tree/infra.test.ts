import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres, testAccounts } from '@ponte/local-servers'
import { routerAddress } from '@ponte/payment-router'
import { readConfig, until } from '@ponte/service-kit'
import { getCreateAddress } from 'ethers'
import { Client } from 'pg'
import { parseAllDocuments } from 'yaml'
import { makeEnv, PRODUCTION_FILES, read, readCompose } from './deployment/compose'
import { LASTING_IMAGE, variablesOf } from './deployment/container'
import { renderOverlay } from './deployment/kubernetes'
import { configs, creators, programs, unknownSettings } from './deployment/programs'

const root = join(__dirname, '../..')

describe('docker-compose.yml', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ponte-env-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('gets fresh secrets from a script that never overwrites them, readable by their owner only', () => {
    const { file, result } = makeEnv(folder)
    expect(result.status).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const first = readFileSync(file, 'utf8')
    const again = makeEnv(folder)
    expect([again.result.status, again.result.stderr.includes('was left as it is')]).toEqual([1, true])
    expect(readFileSync(file, 'utf8')).toBe(first)
    rmSync(file)
    makeEnv(folder)
    const secrets = (text: string) => Object.values(variablesOf(text)).filter(value => /^[0-9a-f]{64}$/.test(value))
    expect(secrets(first)).toHaveLength(18)
    expect(new Set([...secrets(first), ...secrets(readFileSync(file, 'utf8'))]).size).toBe(36)
  })

  it.each(programs)('gives %s settings with which it starts', async name => {
    await creators[name](readCompose().environmentOf(name, makeEnv(folder).variables())).stop()
  })
})

it('the keys that pay for gas are given to the relayer of each network alone', () => {
  const holders = Object.entries(readCompose().services).filter(([, { environment = {} }]) =>
    Object.keys(environment).some(key => /^(RELAYER|GASLESS)_(PRIVATE_KEY|KEY_FILE|KMS_KEY)$/.test(key)),
  )
  expect(holders.map(([name]) => name)).toEqual(['relayer', 'relayer-2', 'relayer-3'])
})

it('the addresses in .env are those that a fresh local chain gives the contracts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-env-'))
  const env = makeEnv(folder).variables()
  rmSync(folder, { recursive: true })
  const at = (nonce: number) => getCreateAddress({ from: testAccounts[0].address, nonce })
  const router = routerAddress({
    deployer: testAccounts[0].address,
    feeBps: Number(env.PLATFORM_FEE_BPS),
    feeReceiver: testAccounts[1].address,
  })
  expect(env).toMatchObject({ TOKEN_ADDRESS: at(0), ROUTER_ADDRESS: router, DEPOSIT_FACTORY: router })
})

describe.each(['development', 'production'])('the %s overlay', overlay => {
  const { manifests, named, deployment, environmentOf, containers } = renderOverlay(overlay)

  it.each(programs)('gives %s and its migration settings with which it starts', async name => {
    const pod = deployment(name)?.template?.spec
    expect([pod?.initContainers.length, pod?.containers.length]).toEqual([1, 1])
    const [migration, service] = containers(name).map(({ environment }) => environment)
    expect(() => readConfig(configs[name], migration ?? {})).not.toThrow()
    await creators[name](service ?? {}).stop()
  })

  it('gives orders deposit addresses of its router, where a relayer with a key sweeps them', () => {
    const [orders = {}, relayer = {}] = ['orders', 'relayer'].map(name => containers(name)[1]?.environment)
    const isSwept = Boolean(relayer.RELAYER_KMS_KEY) && overlay === 'production'
    expect([orders.ROUTER_ADDRESS, orders.DEPOSIT_FACTORY]).toEqual([
      relayer.ROUTER_ADDRESSES,
      isSwept ? relayer.ROUTER_ADDRESSES : undefined,
    ])
  })

  it.each(programs)('gives %s no setting that it does not have', name => {
    for (const { environment } of containers(name)) expect(unknownSettings(name, Object.keys(environment))).toEqual([])
  })

  it('leaves the database connections for every pool when all that scales has scaled, one more of each while it is replaced', () => {
    const largest = (name: string) => named('HorizontalPodAutoscaler', name)?.spec?.maxReplicas ?? deployment(name)?.replicas ?? 1
    const pools = programs.map(name => {
      const container = deployment(name)?.template?.spec.containers[0]
      return (largest(name) + 1) * (container ? readConfig(configs[name], environmentOf(container)).DATABASE_POOL : 0)
    })
    const sum = pools.reduce((one, other) => one + other, 0)
    expect(sum).toBeGreaterThan(100)
    const cluster = named('Cluster', 'postgres')
    // One PostgreSQL for development has its own default, and its autoscalers stay where they are.
    if (cluster) expect(Number(cluster.spec?.postgresql?.parameters.max_connections)).toBeGreaterThan(sum + 50)
  })

  it('names each image by its whole version or its digest', () => {
    const images = [...JSON.stringify(manifests).matchAll(/"image(?:Name)?":"([^"]+)"/g)].map(([, image]) => image)
    expect(images.length).toBeGreaterThan(2 * programs.length)
    for (const image of images) expect(image).toMatch(LASTING_IMAGE)
  })

  it('names a port of its containers where metrics are taken from', () => {
    const ports = programs.map(name => deployment(name)?.template?.spec.containers[0]?.ports?.map(port => port.name))
    for (const each of ports) expect(each).toContain('ops')
    const monitors = manifests.filter(({ kind }) => kind === 'PodMonitor').map(({ spec }) => spec?.podMetricsEndpoints?.[0]?.port)
    expect(monitors).toEqual(overlay === 'production' ? ['ops', 'metrics', 'prometheus'] : [])
  })

  it('lets a role of a service reach its own database alone', async () => {
    const rules = named('Cluster', 'postgres')?.spec?.postgresql?.pg_hba
    if (!rules) return expect(read('infra/postgres/create-databases.sh')).toContain('REVOKE ALL ON DATABASE :"name" FROM PUBLIC')
    const folder = mkdtempSync(join(tmpdir(), 'ponte-roles-'))
    const server = await startPostgres({ dataDir: join(folder, 'data'), port: 0, password: 'a-password', durable: false })
    const admin = new Client({ connectionString: server.url('postgres') })
    try {
      await admin.connect()
      for (const name of ['orders', 'subscriptions']) {
        await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD 'a-password'`)
        await admin.query(`CREATE DATABASE ${name} OWNER ${name}`)
      }
      // As docs/operating/rotate.md changes a password.
      await admin.query("CREATE ROLE orders_2 LOGIN PASSWORD 'a-password' IN ROLE orders")
      const file = join(server.dataDir, 'pg_hba.conf')
      writeFileSync(file, `${rules.join('\n')}\n${readFileSync(file, 'utf8')}`)
      await admin.query('SELECT pg_reload_conf()')
      const connects = async (role: string, database: string) => {
        const client = new Client({ host: '127.0.0.1', port: server.port, user: role, password: 'a-password', database })
        return client.connect().then(
          () => client.end().then(() => true),
          (error: Error) => error.message,
        )
      }
      await until(async () => (await connects('orders', 'subscriptions')) !== true, 'the rules are not read')
      expect(await connects('orders', 'subscriptions')).toMatch(/pg_hba.conf rejects connection/)
      expect([await connects('orders', 'orders'), await connects('subscriptions', 'subscriptions')]).toEqual([true, true])
      expect([await connects('orders_2', 'orders'), await connects('orders_2', 'subscriptions')]).toEqual([
        true,
        expect.stringMatching(/rejects/),
      ])
      expect(await connects('orders', 'postgres')).toMatch(/pg_hba.conf rejects connection/)
    } finally {
      await admin.end()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

it('one version of the broker and of the database, by its whole name, wherever they run', () => {
  const images = [
    'docker-compose.yml',
    'infra/kubernetes/overlays/development/backing.yaml',
    'infra/kubernetes/overlays/production/rabbitmq.yaml',
  ]
    .flatMap(path => [...read(path).matchAll(/image: (\S+)/g)].map(match => match[1] ?? ''))
    .filter(image => /^(?:rabbitmq|postgres):/.test(image))
  expect([...new Set(images)].sort()).toEqual([
    expect.stringMatching(/^postgres:18\.\d+-bookworm(@|$)/),
    expect.stringMatching(/^rabbitmq:\d+\.\d+\.\d+-management(@|$)/),
  ])
  expect(read('infra/kubernetes/overlays/production/postgres.yaml')).toMatch(/imageName: \S+:18\.\d+-system-bookworm(@|$)/m)
})

it('every place gives the broker the same settings', () => {
  const conf = read('infra/rabbitmq/ponte.conf')
  const production = parseAllDocuments(read('infra/kubernetes/overlays/production/rabbitmq.yaml'))[0]?.toJS()
  expect(production.spec.rabbitmq.additionalConfig).toBe(conf)
  expect(read('docker-compose.yml')).toContain('./infra/rabbitmq/ponte.conf:/etc/rabbitmq/conf.d/')
})

it('the broker blocks publishers before its container is out of memory, which it does not see', () => {
  const [, watermarkMb] = /^vm_memory_high_watermark\.absolute = (\d+)MB$/m.exec(read('infra/rabbitmq/ponte.conf')) ?? []
  const production = parseAllDocuments(read('infra/kubernetes/overlays/production/rabbitmq.yaml'))[0]?.toJS()
  expect(production.spec.resources.limits.memory).toBe('1Gi')
  expect(readCompose(PRODUCTION_FILES).services.rabbitmq?.deploy?.resources.limits.memory).toBe('1G')
  expect(Number(watermarkMb)).toBeLessThan(700)
})

it('names a runbook`s files that exist', () => {
  for (const path of ['infra/prometheus/adapter.yaml', 'infra/kubernetes/make-secrets.mjs', 'infra/make-env.mjs', 'infra/collect.mjs'])
    expect(existsSync(join(root, path))).toBe(true)
})
