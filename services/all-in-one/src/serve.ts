import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs, parseEnv } from 'node:util'
import { apiGatewayConfig } from '@ponte/api-gateway'
import { chainListenerConfig } from '@ponte/chain-listener'
import { ensureContracts, ensureDatabases, freePort, openProvider, testAccounts } from '@ponte/local-servers'
import { ordersConfig } from '@ponte/orders'
import { subscriptionsConfig } from '@ponte/subscriptions'
import { webhookDispatcherConfig } from '@ponte/webhook-dispatcher'
import { createIdentityProvider } from './identity/provider'
import {
  DEVELOPMENT_CHAIN,
  databaseName,
  type Environment,
  type Place,
  type ProcessName,
  placeSettings,
  processNames,
  type ServiceName,
  serviceNames,
} from './places'
import { type Replica, startProcesses } from './processes/processes'
import { openState, type StateFile } from './state'

// The five services, and the relayer where it is asked for, as processes on servers that are given (docs/operating/run.md): npm run serve -- --postgres URL --amqp URL --rpc URL[,URL]

const USAGE = `npm run serve -- --postgres URL --amqp URL --rpc URL[,URL] [--ws URL] [--replicas orders=2,relayer=1] [--env FILE] [--state FOLDER]`
const ANVIL = 31_337
const FEE_BPS = 100
const AUDIENCE = 'authenticated'
const RESTART_MS = 1_000

const configs = {
  'api-gateway': apiGatewayConfig,
  orders: ordersConfig,
  subscriptions: subscriptionsConfig,
  'chain-listener': chainListenerConfig,
  'webhook-dispatcher': webhookDispatcherConfig,
}
/** Follow from the arguments, or differ between the services. */
const DERIVED = [
  ...['DATABASE_URL', 'MIGRATE_DATABASE_URL', 'AMQP_URL', 'PORT', 'OPS_PORT', 'GATEWAY_TOKEN_SECRET', 'ROUTER_ADDRESSES'],
  ...['ORDERS_URL', 'SUBSCRIPTIONS_URL', 'WEBHOOKS_URL', 'CHAIN_LISTENER_URL'],
]
const IDENTITY = ['AUTH_URL', 'PUBLIC_CLIENT_KEY', 'JWKS_URL', 'JWT_SECRET', 'JWT_ISSUER', 'JWT_AUDIENCE']

/** Resolves to how it is stopped. */
async function serve(): Promise<() => Promise<void>> {
  const { postgres, amqp, rpcs, counts, given, file, folder } = readArguments()
  const databaseUrl = (name: ServiceName) => {
    const named = given[`${variable(name)}_DATABASE_URL`]
    if (named) return named
    const url = new URL(postgres)
    url.pathname = `/${databaseName(name)}`
    return url.href
  }
  if (postgres) await ensureDatabases(postgres, serviceNames.map(databaseName))
  const chain = await findChain(rpcs, given, file)
  const gatewayPort = await freePort()
  const publicUrl = given.PUBLIC_URL ?? `http://127.0.0.1:${gatewayPort}`
  const identity = await findIdentity(given, file, folder, chain.isDevelopment)
  const place: Place = {
    ...{ databaseUrl, chain: chain.place, publicUrl, identity: identity.place },
    mode: mode(given.PONTE_MODE) ?? (chain.isDevelopment ? 'development' : 'live'),
    amqp: { url: amqp, namespace: given.AMQP_NAMESPACE ?? 'ponte' },
    ports: { 'api-gateway': gatewayPort, orders: 0, subscriptions: 0, 'chain-listener': 0, 'webhook-dispatcher': 0 },
    // The addresses of the replicas take their place.
    ownerUrls: { orders: '', subscriptions: '', webhooks: '', chainListener: '' },
    secrets: {
      sealKey: given.SEAL_KEY ?? file.state.sealKey,
      dossierKey: given.DOSSIER_KEY ?? file.state.dossierKey,
      ordersTokenSecret: given.ORDERS_TOKEN_SECRET ?? file.state.ordersTokenSecret,
      subscriptionsTokenSecret: given.SUBSCRIPTIONS_TOKEN_SECRET ?? file.state.subscriptionsTokenSecret,
      webhooksTokenSecret: given.WEBHOOKS_TOKEN_SECRET ?? file.state.webhooksTokenSecret,
      chainListenerTokenSecret: given.CHAIN_LISTENER_TOKEN_SECRET ?? file.state.chainListenerTokenSecret,
    },
    // A receiver on this machine can be reached on a development chain alone.
    webhookAllowCidrs: chain.isDevelopment ? '127.0.0.1/32' : '',
    logLevel: given.LOG_LEVEL ?? 'info',
  }
  const processes = await startProcesses(
    place,
    {},
    {
      counts,
      restartMs: RESTART_MS,
      settingsOf: found => settingsOf(found, { ...given, RPC_URLS: rpcs.join() }, chain.isDevelopment),
      onOutput: (_, text) => void process.stderr.write(text),
      onReady: replica => print({ event: 'ready', ...named(replica), pid: replica.child.pid, url: replica.url, ops_url: replica.opsUrl }),
      onEnd: replica => print({ event: 'ended', ...named(replica), code: replica.child.exitCode, signal: replica.child.signalCode }),
    },
  )
  const of = (name: ProcessName) => processes.replicas().filter(replica => replica.name === name)
  print({
    event: 'serving',
    gateway_urls: of('api-gateway').map(({ url }) => url),
    public_url: publicUrl,
    ...identity.shown,
    chain_id: chain.place.chainId,
    token_address: chain.place.usdcAddress,
    router_address: chain.place.routerAddress,
    // For npm run status and the other commands of an operator.
    environment: Object.fromEntries(
      processNames
        .filter(name => of(name).length > 0)
        .map(name => [
          `${variable(name)}_OPS_URL`,
          of(name)
            .map(({ opsUrl }) => opsUrl)
            .join(),
        ]),
    ),
  })
  return async () => {
    await processes.stop()
    await identity.stop()
  }
}

const variable = (name: ProcessName) => name.replaceAll('-', '_').toUpperCase()
const print = (line: object) => console.log(JSON.stringify(line))
const named = ({ name, index }: Replica) => ({ service: name, replica: index })

function readArguments() {
  const options = Object.fromEntries(
    ['postgres', 'amqp', 'rpc', 'ws', 'replicas', 'env', 'state'].map(name => [name, { type: 'string' as const }]),
  )
  const values: Record<string, string | undefined> = parseArgs({ options }).values
  const { postgres = '', amqp, rpc, replicas = '', env, state } = values
  const counts: Partial<Record<ProcessName, number>> = {}
  for (const each of replicas.split(',').filter(Boolean)) {
    const [name, count = ''] = each.split('=')
    const service = processNames.find(known => known === name)
    if (!service || !/^[1-9]$/.test(count)) throw new Error(`--replicas has "${each}"; it takes ${processNames.join('=N, ')}=N, of 1 to 9.`)
    counts[service] = Number(count)
  }
  const folder = resolve(state ?? join(__dirname, '../../../.ponte/serve'))
  const settings: NodeJS.Dict<string> = { ...(env ? parseEnv(readFileSync(env, 'utf8')) : {}), ...process.env }
  if (values.ws) settings.WS_URL = values.ws
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value)) as NodeJS.Dict<string>
  const hasDatabases = postgres || serviceNames.every(name => given[`${variable(name)}_DATABASE_URL`])
  if (!hasDatabases || !amqp || !rpc) throw new Error(`Usage: ${USAGE}`)
  return { postgres, amqp, rpcs: rpc.split(','), counts, given, folder, file: openState(folder) }
}

function mode(text: string | undefined): Place['mode'] {
  return (['live', 'test', 'development'] as const).find(one => one === text)
}

/** Settings that follow from the place, and in their stead those that are given. */
function settingsOf(place: Place, given: NodeJS.Dict<string>, isDevelopment: boolean): Record<ServiceName, Environment> {
  const settings = placeSettings(place)
  for (const name of serviceNames) {
    if (isDevelopment) Object.assign(settings[name], { NODE_ENV: 'development' })
    if (isDevelopment && 'CHAIN_ID' in settings[name]) Object.assign(settings[name], DEVELOPMENT_CHAIN)
    if (given.JWT_ISSUER) for (const key of IDENTITY) delete settings[name][key]
    for (const key of Object.keys(configs[name].shape)) {
      const value = given[key]
      if (value !== undefined && !DERIVED.includes(key)) settings[name][key] = value
    }
  }
  return settings
}

/** The contracts that are named; on a development chain others are deployed, and found again at the next start. */
async function findChain(rpcs: readonly string[], given: NodeJS.Dict<string>, file: StateFile) {
  const [rpcUrl = ''] = rpcs
  const chainId = Number(given.CHAIN_ID ?? (await ask(rpcUrl, 'eth_chainId')))
  const isDevelopment = given.DEVELOPMENT_CHAIN === undefined ? chainId === ANVIL : given.DEVELOPMENT_CHAIN === 'true'
  const feeBps = Number(given.PLATFORM_FEE_BPS ?? FEE_BPS)
  const key = (account: { privateKey: string }, name: string) => given[name] ?? (isDevelopment ? account.privateKey : undefined)
  const common = {
    ...{ rpcUrl, chainId, feeBps },
    ...(given.NETWORK ? { network: given.NETWORK } : {}),
    relayerPrivateKey: key(testAccounts[4], 'RELAYER_PRIVATE_KEY'),
    gaslessPrivateKey: key(testAccounts[9], 'GASLESS_PRIVATE_KEY'),
  }
  const { TOKEN_ADDRESS: usdcAddress, ROUTER_ADDRESS: routerAddress } = given
  if (usdcAddress && routerAddress) return { isDevelopment, place: { ...common, usdcAddress, routerAddress } }
  if (!isDevelopment)
    throw new Error(`${rpcUrl} is of chain ${chainId}: set TOKEN_ADDRESS and ROUTER_ADDRESS, in the environment or by --env.`)
  const provider = openProvider(rpcUrl, chainId)
  try {
    const contracts = await ensureContracts(provider, { feeBps, feeReceiver: testAccounts[1].address }, file.state.contracts)
    file.save({ contracts })
    return { isDevelopment, place: { ...common, ...contracts, confirmations: 1 } }
  } finally {
    provider.destroy()
  }
}

async function ask(rpcUrl: string, method: string): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  const response = await fetch(rpcUrl, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  const { result } = (await response.json()) as { result?: unknown }
  if (typeof result !== 'string') throw new Error(`${rpcUrl} did not answer ${method}.`)
  return result
}

/** The identity provider that JWT_ISSUER and its like name; on a development chain one of this process when they name none. */
async function findIdentity(given: NodeJS.Dict<string>, file: StateFile, folder: string, isDevelopment: boolean) {
  if (given.JWT_ISSUER) return { place: { url: '', issuer: '', audience: '', publicClientKey: '' }, shown: {}, stop: async () => undefined }
  if (!isDevelopment)
    throw new Error('Set JWT_ISSUER and its like, in the environment or by --env: anyone here could sign up at a development provider.')
  const { publicClientKey } = file.state
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const issuer = `${url}/auth/v1`
  const provider = createIdentityProvider({
    ...{ host: '127.0.0.1', port, issuer, publicClientKey },
    stateFolder: join(folder, 'identity'),
    audience: AUDIENCE,
  })
  await provider.start?.()
  return {
    place: { url, issuer, audience: AUDIENCE, publicClientKey },
    shown: { auth_url: url, public_client_key: publicClientKey },
    stop: async () => provider.stop?.(),
  }
}

let stopped: Promise<() => Promise<void>> | undefined
let isServing = false
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    // The processes of a start that is under way end with this one.
    if (!isServing) process.exit(code)
    void stopped?.then(stop => stop()).then(() => process.exit(0), fail)
  })

function fail(error: unknown): never {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

stopped = serve()
stopped.then(() => {
  isServing = true
}, fail)
