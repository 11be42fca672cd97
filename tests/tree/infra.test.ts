import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceNames } from '@ponte/all-in-one'
import { apiGatewayConfig } from '@ponte/api-gateway'
import { chainListenerConfig, relayerConfig } from '@ponte/chain-listener'
import { testAccounts } from '@ponte/local-servers'
import { ordersConfig } from '@ponte/orders'
import { routerAddress } from '@ponte/payment-router'
import { readConfig } from '@ponte/service-kit'
import { subscriptionsConfig } from '@ponte/subscriptions'
import { webhookDispatcherConfig } from '@ponte/webhook-dispatcher'
import { getCreateAddress } from 'ethers'
import { parse, parseAllDocuments, type Tags } from 'yaml'

const root = join(__dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const configs = {
  'api-gateway': apiGatewayConfig,
  orders: ordersConfig,
  subscriptions: subscriptionsConfig,
  'chain-listener': chainListenerConfig,
  'webhook-dispatcher': webhookDispatcherConfig,
  relayer: relayerConfig,
}
/** Every process: the relayer is the listener's image, started in another way. */
const programs = [...serviceNames, 'relayer'] as const
type Variables = Record<string, string>
/** An address is longer than a number can be. */
const yaml = { merge: true, customTags: (tags: Tags) => tags.filter(tag => typeof tag === 'string' || tag.format !== 'HEX') }

/** A clean `.env`, as the script writes it. */
function makeEnv(folder: string) {
  const file = join(folder, '.env')
  const result = spawnSync(process.execPath, [join(root, 'infra/make-env.mjs'), file], { encoding: 'utf8' })
  return { file, result }
}

function readEnv(text: string): Variables {
  return Object.fromEntries(
    text
      .split('\n')
      .filter(line => /^[A-Z_]+=/.test(line))
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

/** As Compose does it: `${NAME}`, `${NAME:-default}`, `${NAME:?complaint}`. */
const interpolate = (text: string, env: Variables) =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, operator?: string, rest?: string) => {
    const value = env[name]
    if (value) return value
    if (operator === '?') throw new Error(`${name} is not in .env`)
    return operator === '-' ? (rest ?? '') : ''
  })

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
    const secrets = (text: string) => Object.values(readEnv(text)).filter(value => /^[0-9a-f]{64}$/.test(value))
    expect(secrets(first)).toHaveLength(13)
    expect(new Set([...secrets(first), ...secrets(readFileSync(file, 'utf8'))]).size).toBe(26)
  })

  it.each(programs)('gives %s settings that it accepts', name => {
    const env = readEnv(readFileSync(makeEnv(folder).file, 'utf8'))
    const { services } = parse(read('docker-compose.yml'), yaml) as { services: Record<string, { environment: Variables }> }
    const given = Object.entries(services[name]?.environment ?? {})
    const settings = Object.fromEntries(given.map(([key, value]) => [key, interpolate(String(value), env)]))
    expect(() => readConfig(configs[name], settings)).not.toThrow()
  })
})

it('the keys that pay for gas are given to the relayer alone', () => {
  const { services } = parse(read('docker-compose.yml'), yaml) as { services: Record<string, { environment?: Variables }> }
  const holders = Object.entries(services).filter(([, { environment = {} }]) =>
    Object.keys(environment).some(key => /^(RELAYER|GASLESS)_(PRIVATE_KEY|KEY_FILE|KMS_KEY)$/.test(key)),
  )
  expect(holders.map(([name]) => name)).toEqual(['relayer'])
})

it('the addresses in .env are those that a fresh local chain gives the contracts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-env-'))
  const env = readEnv(readFileSync(makeEnv(folder).file, 'utf8'))
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
  interface Manifest {
    kind: string
    metadata: { name: string }
    data?: Variables
    stringData?: Variables
    spec?: { template: { spec: { containers: { name: string; envFrom: Record<string, { name: string }>[] }[] } } }
  }
  const manifestsOf = (text: string) => parseAllDocuments(text, yaml).map(document => document.toJS() as Manifest)
  const script = (name: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(root, 'infra/kubernetes', name), ...args], {
      encoding: 'utf8',
      env: { ...process.env, RPC_URLS: 'https://rpc.example/key' },
    }).stdout
  const manifests = [...manifestsOf(script('build-overlay.mjs', overlay)), ...manifestsOf(script('make-secrets.mjs'))].filter(Boolean)
  const named = (kind: string, wanted: string | undefined) => manifests.find(each => each.kind === kind && each.metadata.name === wanted)

  it.each(programs)('gives %s settings that it accepts', name => {
    const container = named('Deployment', name)?.spec?.template.spec.containers[0]
    const sources = (container?.envFrom ?? []).map(
      from => named('ConfigMap', from.configMapRef?.name) ?? named('Secret', from.secretRef?.name),
    )
    expect(sources).not.toContain(undefined)
    const settings: Variables = Object.assign({}, ...sources.map(source => source?.data ?? source?.stringData))
    // Production has a JWKS; the session secret that the script prints is for places without one.
    if (settings.JWKS_URL) delete settings.JWT_SECRET
    expect(() => readConfig(configs[name], settings)).not.toThrow()
  })
})

it('every place gives the broker the same settings', () => {
  const conf = read('infra/rabbitmq/ponte.conf')
  const production = parseAllDocuments(read('infra/kubernetes/overlays/production/rabbitmq.yaml'))[0]?.toJS()
  expect(production.spec.rabbitmq.additionalConfig).toBe(conf)
  expect(read('docker-compose.yml')).toContain('./infra/rabbitmq/ponte.conf:/etc/rabbitmq/conf.d/')
})

it('names a runbook`s files that exist', () => {
  for (const path of ['infra/prometheus/adapter.yaml', 'infra/kubernetes/make-secrets.mjs', 'infra/make-env.mjs', 'infra/collect.mjs'])
    expect(existsSync(join(root, path))).toBe(true)
})
