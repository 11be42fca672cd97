import { setTimeout as sleep } from 'node:timers/promises'
import type { MerchantWithKeyBody, OrderBody } from '@ponte/contracts'
import { DEMO_EMAIL, type Embedded, MERCHANT_ACCOUNT, PAYER_ACCOUNT } from './embedded'
import type { Received } from './webhook-receiver'

/** What the demo merchant needs of the running system. */
export interface DemoPlace extends Pick<Embedded, 'file' | 'receiver' | 'receiverUrl' | 'authUrl'> {
  system: Pick<Embedded['system'], 'gatewayUrl'>
}

/** What a merchant does once: log in, create the merchant, keep the key. Done again tomorrow, it finds what it made. */
export async function prepareDemoMerchant({ system, file, receiver, receiverUrl, authUrl }: DemoPlace): Promise<void> {
  const { state } = file
  const token = await logIn(authUrl, state.publicClientKey, { email: DEMO_EMAIL, password: state.demoPassword })
  const known = state.demoMerchant
  if (known) receiver.trust(known.webhook_secret)
  const created = known
    ? null
    : await call<MerchantWithKeyBody>(`${system.gatewayUrl}/api/v1/merchants`, {
        method: 'POST',
        token,
        body: { display_name: 'Padaria Estrela', webhook_url: `${receiverUrl}/webhooks`, payout_address: MERCHANT_ACCOUNT.address },
      })
  if (!created) return
  receiver.trust(created.webhook_secret)
  const { id, api_key, webhook_secret } = created
  file.save({ demoMerchant: { id, api_key, webhook_secret, payout_address: MERCHANT_ACCOUNT.address } })
}

export interface SamplePayment {
  order: OrderBody
  txHash: string
  webhook: Received
}

/** What the sample payer has left, for a developer who pays on the checkout with its key: 10,000 USDC. */
const POCKET_MONEY = 10_000_000_000n

/** One payment from the merchant's request to the merchant's webhook, each step reported. */
export async function playSamplePayment(
  { system, chain, file, receiver }: Embedded,
  report: (step: string) => void,
): Promise<SamplePayment> {
  const merchant = file.state.demoMerchant
  if (!merchant) throw new Error('There is no demo merchant yet.')
  const order = await call<OrderBody>(`${system.gatewayUrl}/api/v1/orders`, {
    method: 'POST',
    token: merchant.api_key,
    body: { brl_amount: '150.00', external_ref: 'SAMPLE-1', description: 'Sample order' },
  })
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
async function logIn(authUrl: string, clientKey: string, credentials: { email: string; password: string }): Promise<string> {
  const response = await fetch(`${authUrl}/auth/v1/token?grant_type=password`, {
    method: 'POST',
    headers: { apikey: clientKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  })
  const { access_token } = (await response.json()) as { access_token?: string }
  if (!access_token) throw new Error(`The demo user could not log in: ${response.status}.`)
  return access_token
}

async function call<T>(url: string, options: { method: string; token: string; body: object }): Promise<T> {
  const response = await fetch(url, {
    method: options.method,
    headers: { Authorization: `Bearer ${options.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(options.body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${options.method} ${url} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}
