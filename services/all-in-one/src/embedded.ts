import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type LocalChain, startLocalChain, startPostgres, testAccounts } from '@ponte/local-servers'
import { createLogger } from '@ponte/service-kit'
import { createIdentityProvider } from './identity/provider'
import { localRoutes } from './local-routes'
import { createSamplePayer } from './payer/sample-payer'
import { databaseName, type Place, type PlacedChain, serviceNames } from './places'
import { startWithSandbox } from './sandbox/start'
import type { EmbeddedSettings } from './settings'
import type { System } from './start-all'
import { openState, type State, type StateFile } from './state'
import { createWebhookReceiver, type WebhookReceiver } from './webhook-receiver'

export const DEMO_EMAIL = 'demo@ponte.example'
const webFolder = join(__dirname, '../../../packages/web/dist')
const CHAIN_ID = 31_337
const OTHER_CHAIN_ID = 31_338
const OTHER_DATABASE = `${databaseName('chain-listener')}_${OTHER_CHAIN_ID}`
const FEE_BPS = 100
/** anvil's well-known accounts: 0 deploys, 1 takes the fees, 2 is the demo merchant's, 3 pays, 4 pays the gas of sweeps, 9 that of payers' signatures. */
export const MERCHANT_ACCOUNT = testAccounts[2]
export const PAYER_ACCOUNT = testAccounts[3]
const RELAYER_ACCOUNT = testAccounts[4]
const GASLESS_ACCOUNT = testAccounts[9]

export interface Embedded {
  system: System
  chain: LocalChain
  /** The second network, where there is one. */
  otherChain: LocalChain | undefined
  receiver: WebhookReceiver
  file: StateFile
  authUrl: string
  receiverUrl: string
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  settings: EmbeddedSettings
  folder: string
  fresh: boolean
  onStage(stage: string): void
}

/** Starts everything that Ponte needs on one machine, and Ponte. What was started is stopped again when a later part fails. */
export async function startEmbedded({ settings, folder, fresh, onStage }: EmbeddedOptions): Promise<Embedded> {
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (let next = stops.pop(); next; next = stops.pop()) await next()
  }
  try {
    if (fresh) for (const entry of readdirSync(folder)) if (entry !== 'pid') rmSync(join(folder, entry), { recursive: true, force: true })
    const file = openState(folder)

    onStage('PostgreSQL')
    const postgres = await startPostgres({
      dataDir: join(folder, 'postgres'),
      port: settings.PONTE_PG_PORT,
      portSetting: 'PONTE_PG_PORT',
      password: file.state.postgresPassword,
    })
    stops.push(postgres.stop)
    const hasOther = settings.PONTE_NETWORKS > 1
    await postgres.ensureDatabases([...serviceNames.map(databaseName), ...(hasOther ? [OTHER_DATABASE] : [])])

    onStage(hasOther ? 'local chains' : 'local chain')
    const chain = await startChain(settings, folder, file)
    stops.push(chain.stop)
    const otherChain = hasOther ? await startOtherChain(settings, folder, file) : undefined
    if (otherChain) stops.push(otherChain.stop)

    onStage('identity provider and webhook receiver')
    const authUrl = `http://127.0.0.1:${settings.PONTE_AUTH_PORT}`
    const identity = createIdentityProvider({
      host: '127.0.0.1',
      port: settings.PONTE_AUTH_PORT,
      portSetting: 'PONTE_AUTH_PORT',
      stateFolder: join(folder, 'identity'),
      publicClientKey: file.state.publicClientKey,
      issuer: `${authUrl}/auth/v1`,
      audience: 'authenticated',
      mail: ({ to, subject, text }) => console.log(`\nMail to ${to}: ${subject}\n  ${text}\n`),
    })
    await identity.start?.()
    stops.push(async () => identity.stop?.())
    await identity.ensureUser(DEMO_EMAIL, file.state.demoPassword)
    const receiver = createWebhookReceiver({ host: '127.0.0.1', port: settings.PONTE_RECEIVER_PORT, portSetting: 'PONTE_RECEIVER_PORT' })
    await receiver.start?.()
    stops.push(async () => receiver.stop?.())

    onStage('the five services')
    const place = embeddedPlace({ settings, file, chain, authUrl, databaseUrl: name => postgres.url(databaseName(name)) })
    if (otherChain) place.others = [{ ...placed(otherChain, settings), databaseUrl: postgres.url(OTHER_DATABASE) }]
    const payer = createSamplePayer({ chain, privateKey: PAYER_ACCOUNT.privateKey, gatewayUrl: place.publicUrl })
    const system = await startWithSandbox(place, {
      ...{ chain, others: otherChain ? [otherChain] : [], payer },
      local: localRoutes({
        payer,
        webFolder,
        publicUrl: place.publicUrl,
        mode: settings.PONTE_MODE,
        apiKey: () => file.state.demoMerchant?.api_key,
      }),
      logger: name => createLogger({ service: name, level: settings.LOG_LEVEL }),
      onDeadLetter: (queue, message) => appendFileSync(join(folder, 'dead-letters.jsonl'), `${JSON.stringify({ queue, ...message })}\n`),
    })
    stops.push(system.stop)
    const receiverUrl = `http://127.0.0.1:${receiver.port()}`
    return { system, chain, otherChain, receiver, file, authUrl: `http://127.0.0.1:${identity.port()}`, receiverUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const localChain = (chainId: number, port: number, stateFile: string, deployed: State['contracts']) =>
  startLocalChain({
    ...{ port, chainId, stateFile, deployed },
    // Each empty block stays in the state file, which anvil writes whole: a slower beat keeps a day's file small.
    stateIntervalS: 1,
    blockTimeS: 5,
    mixedMining: true,
    feeBps: FEE_BPS,
    feeReceiver: testAccounts[1].address,
  })

async function startChain({ PONTE_CHAIN_PORT: port }: EmbeddedSettings, folder: string, file: StateFile): Promise<LocalChain> {
  const chain = await localChain(CHAIN_ID, port, join(folder, 'chain.json'), file.state.contracts)
  file.save({ contracts: contractsOf(chain) })
  return chain
}
async function startOtherChain({ PONTE_CHAIN_PORT: port }: EmbeddedSettings, folder: string, file: StateFile): Promise<LocalChain> {
  const chain = await localChain(OTHER_CHAIN_ID, port && port + 1, join(folder, `chain-${OTHER_CHAIN_ID}.json`), file.state.otherContracts)
  file.save({ otherContracts: contractsOf(chain) })
  return chain
}
const contractsOf = ({ usdcAddress, routerAddress, rateFeedAddress }: LocalChain) => ({ usdcAddress, routerAddress, rateFeedAddress })

const placed = (chain: LocalChain, settings: EmbeddedSettings): PlacedChain => ({
  ...chain,
  confirmations: settings.PONTE_CONFIRMATIONS,
  relayerPrivateKey: RELAYER_ACCOUNT.privateKey,
  gaslessPrivateKey: GASLESS_ACCOUNT.privateKey,
})

function embeddedPlace(of: {
  settings: EmbeddedSettings
  file: StateFile
  chain: LocalChain
  authUrl: string
  databaseUrl: Place['databaseUrl']
}): Place {
  const { settings, chain, authUrl } = of
  const { state } = of.file
  return {
    mode: settings.PONTE_MODE,
    databaseUrl: of.databaseUrl,
    // Demanded of every service, but all-in-one hands in its own bus and no service connects.
    amqp: { url: 'amqp://embedded.invalid', namespace: 'ponte' },
    chain: placed(chain, settings),
    identity: { url: authUrl, issuer: `${authUrl}/auth/v1`, audience: 'authenticated', publicClientKey: state.publicClientKey },
    publicUrl: `http://127.0.0.1:${settings.PONTE_PORT}`,
    ports: { 'api-gateway': settings.PONTE_PORT, orders: 0, subscriptions: 0, 'chain-listener': 0, 'webhook-dispatcher': 0 },
    ownerUrls: {
      orders: 'http://127.0.0.1',
      subscriptions: 'http://127.0.0.1',
      webhooks: 'http://127.0.0.1',
      chainListener: 'http://127.0.0.1',
    },
    secrets: state,
    webhookAllowCidrs: '127.0.0.1/32',
    logLevel: settings.LOG_LEVEL,
  }
}
