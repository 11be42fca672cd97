import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWebhookReceiver, migrations, type Place, serviceNames } from '@ponte/all-in-one'
import type { MerchantWithKeyBody, OrderBody } from '@ponte/contracts'
import { type LocalChain, type LocalChainOptions, mined, startLocalChain, testAccounts } from '@ponte/local-servers'
import { profileOf } from '@ponte/payment-router'
import { createLogger, silentLogger } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { CLIENT_KEY, type IdentitySettings, startGround } from './ground'
import { openApiValidator } from './openapi-validator'

export const MERCHANT = testAccounts[2]
export const PAYER = testAccounts[3]
export const RELAYER = testAccounts[4]
export const GASLESS = testAccounts[9]

/** Common ground of whole-system tests: databases, a chain, an identity provider and a merchant's server, all real and all its own. */
export async function startWorld(
  options: {
    confirmations?: number
    chain?: LocalChainOptions
    /** Further networks that orders may be paid on, each with a listener and a database of its own. */
    otherChains?: readonly (LocalChainOptions & { chainId: number })[]
    amqp?: Place['amqp']
    /** Databases of the caller's, in place of fresh ones. */
    databaseUrl?: Place['databaseUrl']
    otherDatabaseUrl?: (chainId: number) => string
    identity?: IdentitySettings
  } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-world-'))
  const databases = options.databaseUrl ? [] : await Promise.all(serviceNames.map(name => testDatabase(migrations[name])))
  const chain = await startChain(options.chain ?? { blockTimeS: 1, mixedMining: true })
  const otherChains = await Promise.all((options.otherChains ?? []).map(startChain))
  const others: NonNullable<Place['others']>[number][] = []
  const placed = (of: LocalChain): Place['chain'] => ({
    ...of,
    confirmations: options.confirmations ?? 1,
    relayerPrivateKey: RELAYER.privateKey,
    gaslessPrivateKey: GASLESS.privateKey,
  })
  for (const other of otherChains) {
    const given = options.otherDatabaseUrl?.(other.chainId)
    const database = given === undefined ? await testDatabase(migrations['chain-listener']) : undefined
    if (database) databases.push(database)
    others.push({ ...placed(other), databaseUrl: given ?? database?.url ?? '' })
  }
  const { identity, place: ground } = await startGround(folder, options.identity)
  const receiver = createWebhookReceiver({ host: '127.0.0.1', port: 0 })
  await receiver.start?.()

  const place: Place = {
    ...ground,
    databaseUrl: options.databaseUrl ?? (service => databases[serviceNames.indexOf(service)]?.url ?? ''),
    amqp: options.amqp ?? { url: 'amqp://embedded.invalid', namespace: 'ponte' },
    chain: placed(chain),
    ...(others.length > 0 ? { others } : {}),
    logLevel: process.env.PONTE_TEST_LOG_LEVEL ?? 'error',
  }
  return {
    place,
    chain,
    otherChains,
    receiver,
    identity,
    receiverUrl: `http://127.0.0.1:${receiver.port()}/webhooks`,
    databases,
    logger: () =>
      process.env.PONTE_TEST_LOG_LEVEL ? createLogger({ service: 'test', level: process.env.PONTE_TEST_LOG_LEVEL }) : silentLogger,
    async stop() {
      await receiver.stop?.()
      await identity.stop?.()
      await chain.stop()
      await Promise.all(otherChains.map(other => other.stop()))
      await Promise.all(databases.map(database => database.drop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Contracts that price data on the chain below, which such a chain has from its first block, and no anvil. */
const DATA_PRICES = { op: '0x420000000000000000000000000000000000000F', arbitrum: '0x00000000000000000000000000000000000000C8' }
/** Code that answers a thousand, and then zeros, to whatever it is asked. */
const A_THOUSAND = '0x6103e860005260606000f3'

async function startChain(options: LocalChainOptions): Promise<LocalChain> {
  const chain = await startLocalChain(options)
  const { dataFee } = profileOf(chain.chainId)
  if (dataFee === 'none') return chain
  await chain.provider.send('anvil_setCode', [DATA_PRICES[dataFee], A_THOUSAND])
  // A reorganisation takes back what no block holds.
  await chain.mine(1)
  return chain
}
export type World = Awaited<ReturnType<typeof startWorld>>

/** A merchant made over HTTP as its user would: sign up, create, keep the key. The receiver trusts its secret. */
export async function createMerchant(
  world: World,
  gatewayUrl: string,
  webhookUrl: string | null = world.receiverUrl,
  payoutAddress: string = MERCHANT.address,
) {
  const email = `user-${randomBytes(6).toString('hex')}@ponte.example`
  const access_token = await openSession(world, '/signup', email)
  const merchant = await call<MerchantWithKeyBody>(gatewayUrl, 'POST', '/api/v1/merchants', access_token, {
    display_name: 'Padaria Estrela',
    webhook_url: webhookUrl,
    payout_address: payoutAddress,
  })
  if (webhookUrl !== null) world.receiver.trust(merchant.webhook_secret)
  return { ...merchant, token: access_token, email }
}

/** The token of a new session of a merchant's user. */
export const logIn = (world: World, { email }: { email: string }) => openSession(world, '/token?grant_type=password', email)

async function openSession({ place }: World, path: string, email: string): Promise<string> {
  const answer = await fetch(`${place.identity.url}/auth/v1${path}`, {
    method: 'POST',
    headers: { apikey: CLIENT_KEY, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: 'a-password-for-tests' }),
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  return access_token
}

/** As fetch, for the gateway: an answer that is not what its OpenAPI document states is thrown. */
export async function askGateway(gatewayUrl: string, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${gatewayUrl}${path}`, init)
  const { status, headers } = response
  const text = await response.clone().text()
  const faults = (await openApiValidator(gatewayUrl))({ method: init.method ?? 'GET', path, status, headers, text })
  if (faults.length > 0) throw new Error(`This answer is not what the OpenAPI document states:\n${faults.join('\n')}`)
  return response
}

/** For `fetch`: JSON in, with an Idempotency-Key where one is given. */
export const jsonRequest = (method: string, token: string, body?: object, key?: string): RequestInit => ({
  method,
  headers: {
    Authorization: `Bearer ${token}`,
    ...(body ? { 'Content-Type': 'application/json' } : {}),
    ...(key ? { 'Idempotency-Key': key } : {}),
  },
  ...(body ? { body: JSON.stringify(body) } : {}),
})

/** One request with JSON in and out; a refusal is thrown with its body. */
export async function call<T = Record<string, unknown>>(
  base: string,
  method: string,
  path: string,
  token: string,
  body?: object,
): Promise<T> {
  const response = await askGateway(base, path, jsonRequest(method, token, body))
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}

export const units = (decimal: string) => BigInt(decimal.replace('.', ''))

/** Pays an order through the router from the test payer, in full unless an amount is given. Resolves when mined. */
export async function pay(chain: LocalChain, order: OrderBody, amount = units(order.usdc_amount), account = PAYER) {
  const payer = chain.wallet(account.privateKey)
  await mined(chain.mintUsdc(payer.address, amount))
  return mined(chain.pay(payer, { memo: `0x${order.memo}`, merchant: order.payment.merchant_address, amount }))
}
