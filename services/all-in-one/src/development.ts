import { setTimeout as pause } from 'node:timers/promises'
import { openProvider, testAccounts } from '@ponte/local-servers'
import { deployContracts } from '@ponte/payment-router'
import { createLogger, integer, type Logger, readConfig, run, service } from '@ponte/service-kit'
import { z } from 'zod'
import { prepareDemoMerchant } from './demo'
import { createIdentityProvider } from './identity/provider'
import { openState } from './state'
import { createWebhookReceiver } from './webhook-receiver'

// What `docker compose --profile dev` needs beside the five services: contracts on the local chain, and in one process the identity provider,
// the sample webhook receiver and a merchant to try things with. Never part of a deployment that serves anyone.

const chainSettings = z.object({
  RPC_URL: z.url(),
  CHAIN_ID: integer(1),
  TOKEN_ADDRESS: z.string(),
  ROUTER_ADDRESS: z.string(),
  PLATFORM_FEE_BPS: integer(0, 1_000),
})

const aidSettings = z.object({
  HOST: z.string().default('0.0.0.0'),
  AUTH_PORT: integer(0, 65_535).default(8090),
  RECEIVER_PORT: integer(0, 65_535).default(8091),
  /** Where users, the signing key and the demo merchant's key are kept. */
  STATE_FOLDER: z.string(),
  PUBLIC_CLIENT_KEY: z.string(),
  JWT_ISSUER: z.string(),
  JWT_AUDIENCE: z.string(),
  GATEWAY_URL: z.url(),
  /** Where the dispatcher reaches the receiver. */
  RECEIVER_URL: z.url(),
  DEMO_EMAIL: z.string().default('demo@ponte.example'),
})

const RETRY_MS = 500
/** Exit code of a process that SIGTERM ended. */
const STOPPED = 143
const isDeployed = (code: string) => code !== '0x'

/** Deploys token and router from the chain's first account, unless they stand: a fresh chain gives them the addresses that .env names. */
async function contracts(env: NodeJS.ProcessEnv, logger: Logger, signal: AbortSignal): Promise<void> {
  const settings = readConfig(chainSettings, env)
  const provider = openProvider(settings.RPC_URL, settings.CHAIN_ID)
  try {
    const code = await untilAnswered(() => provider.getCode(settings.ROUTER_ADDRESS), logger, signal)
    if (isDeployed(code)) return logger.info('the contracts stand', { router_address: settings.ROUTER_ADDRESS })
    const terms = { feeBps: settings.PLATFORM_FEE_BPS, feeReceiver: testAccounts[1].address }
    const { usdcAddress, routerAddress } = await deployContracts(await provider.getSigner(0), terms)
    const wanted = [settings.TOKEN_ADDRESS, settings.ROUTER_ADDRESS].map(address => address.toLowerCase())
    if ([usdcAddress, routerAddress].some((address, index) => address.toLowerCase() !== wanted[index]))
      throw new Error(`The chain was not fresh: token ${usdcAddress}, router ${routerAddress}. Put these into .env, or restart the chain.`)
    logger.info('the contracts were deployed', { token_address: usdcAddress, router_address: routerAddress })
  } finally {
    provider.destroy()
    // A node that does not answer keeps its connection, and with it this process.
    if (signal.aborted) process.exit(STOPPED)
  }
}

/** The identity provider, the receiver, and a merchant whose webhooks go there; prints how to use them once the gateway answers. */
async function aids(env: NodeJS.ProcessEnv, logger: Logger, signal: AbortSignal): Promise<void> {
  const settings = readConfig(aidSettings, env)
  const file = openState(settings.STATE_FOLDER)
  file.save({ publicClientKey: settings.PUBLIC_CLIENT_KEY })
  const identity = createIdentityProvider({
    host: settings.HOST,
    port: settings.AUTH_PORT,
    portSetting: 'AUTH_PORT',
    stateFolder: settings.STATE_FOLDER,
    publicClientKey: settings.PUBLIC_CLIENT_KEY,
    issuer: settings.JWT_ISSUER,
    audience: settings.JWT_AUDIENCE,
    // Past the logger on purpose: it would redact the link, which is what a developer waits for.
    mail: mail => console.log(JSON.stringify({ message: 'mail', ...mail })),
    logger,
  })
  const receiver = createWebhookReceiver({ host: settings.HOST, port: settings.RECEIVER_PORT, portSetting: 'RECEIVER_PORT', logger })
  await run(service('development', [identity, receiver]), logger)
  await identity.ensureUser(settings.DEMO_EMAIL, file.state.demoPassword)
  const where = {
    system: { gatewayUrl: settings.GATEWAY_URL },
    authUrl: `http://127.0.0.1:${identity.port()}`,
    receiverUrl: settings.RECEIVER_URL,
  }
  await untilAnswered(() => prepareDemoMerchant({ file, receiver, ...where, email: settings.DEMO_EMAIL, signal }), logger, signal)
  const demo = { user: settings.DEMO_EMAIL, password: file.state.demoPassword, merchant: file.state.demoMerchant }
  // Printed past the logger on purpose: it would redact the key, which is what a developer came for.
  console.log(JSON.stringify({ message: 'ready to try', public_client_key: settings.PUBLIC_CLIENT_KEY, demo }, null, 2))
}

/** Waits for a part that may still be starting. Throws when it is to stop, also while an answer is outstanding. */
async function untilAnswered<T>(ask: () => Promise<T>, logger: Logger, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const stopped = new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  for (;;) {
    try {
      return await Promise.race([ask(), stopped])
    } catch (error) {
      signal.throwIfAborted()
      logger.info('not answered yet; asking again', { error })
      await pause(RETRY_MS, undefined, { signal })
    }
  }
}

const works: Record<string, typeof aids> = { contracts, aids }

const stopping = new AbortController()
// Process 1 of a container ignores signals that it does not handle.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort(new Error(`Stopped by ${signal}.`)))

async function main() {
  const logger = createLogger({ service: 'development' })
  const work = works[process.argv[2] ?? '']
  if (!work) throw new Error('Usage: node dist/development.js contracts|aids')
  await work(process.env, logger, stopping.signal)
}

main().catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = stopping.signal.aborted ? STOPPED : 1
})
