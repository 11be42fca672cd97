import { setTimeout as sleep } from 'node:timers/promises'
import { type MerchantBody, type MerchantWithKeyBody, type OrderBody, operations } from '@ponte/contracts'
import { DEMO_EMAIL, type Embedded, MERCHANT_ACCOUNT, PAYER_ACCOUNT } from './embedded'
import type { Received } from './webhook-receiver'

/** Needed by the demo merchant of the running system. */
export interface DemoPlace extends Pick<Embedded, 'file' | 'receiver' | 'receiverUrl' | 'authUrl'> {
  system: Pick<Embedded['system'], 'gatewayUrl'>
  email?: string
  signal?: AbortSignal
}

/**
 * What a merchant does once: log in, create the merchant, keep the key. Done again tomorrow, it finds what it made; where the key is lost, or the databases behind it, it
 * makes what is missing.
 */
export async function prepareDemoMerchant(place: DemoPlace): Promise<void> {
  const { file, receiver, receiverUrl } = place
  const known = file.state.demoMerchant
  if (known && (await isKeyOf(place, known.api_key))) return receiver.trust(known.webhook_secret)
  const token = await logIn(place)
  const details = { display_name: 'Padaria Estrela', webhook_url: `${receiverUrl}/webhooks`, payout_address: MERCHANT_ACCOUNT.address }
  const made = await post<MerchantWithKeyBody>(place, operations.createMerchant.path, token, details, 'merchant_exists')
  const { api_key } = made ?? (await post<Pick<MerchantWithKeyBody, 'api_key'>>(place, operations.rotateKey.path, token, {}))
  // A replaced key comes without the secret, which who has just logged in may read.
  const { id, webhook_secret } = made ?? (await ask<MerchantBody>(place, 'GET', operations.getMerchant.path, token))
  if (webhook_secret === null) throw new Error('The demo merchant does not see its webhook secret.')
  receiver.trust(webhook_secret)
  file.save({ demoMerchant: { id, api_key, webhook_secret, payout_address: MERCHANT_ACCOUNT.address } })
}

async function isKeyOf({ system, signal }: DemoPlace, apiKey: string): Promise<boolean> {
  const url = `${system.gatewayUrl}${operations.listOrders.path}?limit=1`
  const { status } = await fetch(url, { headers: { Authorization: `Bearer ${apiKey}` }, ...(signal ? { signal } : {}) })
  if (status !== 200 && status !== 401) throw new Error(`GET ${url} answered ${status}.`)
  return status === 200
}

export interface SamplePayment {
  order: OrderBody
  txHash: string
  webhook: Received
}

/** Left for a developer who pays on the checkout with the sample payer's key: 10,000 USDC. */
const POCKET_MONEY = 10_000_000_000n

/** One payment from the merchant's request to the merchant's webhook, each step reported. */
export async function playSamplePayment(embedded: Embedded, report: (step: string) => void): Promise<SamplePayment> {
  const { chain, file, receiver } = embedded
  const merchant = file.state.demoMerchant
  if (!merchant) throw new Error('There is no demo merchant yet.')
  const wanted = { brl_amount: '150.00', external_ref: 'SAMPLE-1', description: 'Sample order' }
  const order = await post<OrderBody>(embedded, operations.createOrder.path, merchant.api_key, wanted)
  report(`order ${order.id}: R$ ${order.brl_amount} = ${order.usdc_amount} USDC at ${order.quote.rate}`)
  const amount = BigInt(order.usdc_amount.replace('.', ''))
  const payer = chain.wallet(PAYER_ACCOUNT.privateKey)
  await (await chain.mintUsdc(payer.address, amount + POCKET_MONEY)).wait()
  const sent = await chain.pay(payer, { memo: `0x${order.memo}`, merchant: order.payment.merchant_address, amount })
  const receipt = await sent.wait()
  report(`paid on the local chain in block ${receipt?.blockNumber}: ${sent.hash}`)
  const webhook = await waitForWebhook(receiver.received, order.id)
  report(`the merchant's server received order.paid, signature ${webhook.signature_valid ? 'valid' : 'INVALID'}`)
  return { order, txHash: sent.hash, webhook }
}

const WEBHOOK_WAIT_MS = 60_000

async function waitForWebhook(received: readonly Received[], orderId: string): Promise<Received> {
  const deadline = Date.now() + WEBHOOK_WAIT_MS
  for (;;) {
    const found = received.find(webhook => webhook.body.includes(orderId) && webhook.body.includes('"order.paid"'))
    if (found) return found
    if (Date.now() > deadline)
      throw new Error('The webhook of the sample payment did not reach the receiver within a minute. Run with LOG_LEVEL=info to see why.')
    await sleep(20)
  }
}

/** The login of the specification, as a merchant user's browser does it. */
async function logIn({ authUrl, file, email = DEMO_EMAIL, signal }: DemoPlace): Promise<string> {
  const response = await fetch(`${authUrl}/auth/v1/token?grant_type=password`, {
    method: 'POST',
    headers: { apikey: file.state.publicClientKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: file.state.demoPassword }),
    ...(signal ? { signal } : {}),
  })
  const { access_token } = (await response.json()) as { access_token?: string }
  if (!access_token) throw new Error(`The demo user could not log in: ${response.status}.`)
  return access_token
}

type Asked = Pick<DemoPlace, 'system' | 'signal'>
/** The answer; null for a refusal with the code that `unless` names. */
async function post<T>(asked: Asked, path: string, token: string, body: object): Promise<T>
async function post<T>(asked: Asked, path: string, token: string, body: object, unless: string): Promise<T | null>
async function post<T>(asked: Asked, path: string, token: string, body: object, unless?: string): Promise<T | null> {
  try {
    return await ask<T>(asked, 'POST', path, token, body)
  } catch (error) {
    if (unless !== undefined && error instanceof Error && error.message.includes(`"${unless}"`)) return null
    throw error
  }
}

async function ask<T>({ system, signal }: Asked, method: string, path: string, token: string, body?: object): Promise<T> {
  const url = `${system.gatewayUrl}${path}`
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    ...(signal ? { signal } : {}),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}
