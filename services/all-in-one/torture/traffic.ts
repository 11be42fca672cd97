import { randomUUID } from 'node:crypto'
import type { MerchantBody, OrderBody } from '@ponte/contracts'
import { createWebhookReceiver, type WebhookReceiver } from '../src/webhook-receiver'
import { call, createMerchant, PAYER, units, type World } from '../test/system'
import type { Cluster } from './cluster'
import type { Random } from './random'

export interface Merchant {
  body: MerchantBody & { api_key: string; token: string }
  receiver: WebhookReceiver
  subscriptionId: string
}

export interface Traffic {
  merchants: readonly Merchant[]
  /** Every order that the API answered with 2xx, by id. */
  answered: Map<string, { order: OrderBody; merchant: Merchant }>
  counts: Record<string, number>
  /** Runs until told to stop; resolves when the last step is done. */
  run(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** A transaction that a reorg took away is never mined: nobody waits longer than this. */
const MINED_WAIT_MS = 8_000
const TRIES = 40
const RETRY_MS = 250

export async function startTraffic(world: World, cluster: Cluster, random: Random, merchantCount = 3): Promise<Traffic> {
  const merchants: Merchant[] = []
  const gateway = () => random.pick(cluster.gatewayUrls)
  for (let index = 0; index < merchantCount; index++) {
    const receiver = createWebhookReceiver({ host: '127.0.0.1', port: 0 })
    await receiver.start?.()
    const body = await createMerchant(world, gateway(), `http://127.0.0.1:${receiver.port()}/webhooks`)
    receiver.trust(body.webhook_secret)
    const { id } = await call<{ id: string }>(gateway(), 'POST', '/api/v1/subscriptions', body.api_key, { brl_amount: '19.90' })
    merchants.push({ body, receiver, subscriptionId: id })
  }

  const answered: Traffic['answered'] = new Map()
  const counts: Record<string, number> = {}
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1
  }

  /** The same request until it is answered: one key, so that however often it is sent, it is one order. */
  const insist = async <T>(merchant: Merchant, path: string, body: object, signal: AbortSignal): Promise<T | null> => {
    const key = randomUUID()
    for (let tries = 0; tries < TRIES && !signal.aborted; tries++) {
      try {
        const response = await fetch(`${gateway()}${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${merchant.body.api_key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(10_000),
        })
        const text = await response.text()
        if (response.ok) return JSON.parse(text) as T
        count(`answered ${response.status}`)
        if (response.status < 500 && response.status !== 409) throw new Error(`POST ${path} answered ${response.status}: ${text}`)
        if (response.status === 409) return null
      } catch (error) {
        if (error instanceof Error && error.message.startsWith('POST ')) throw error
        count('not answered')
      }
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
    return null
  }

  let paying = Promise.resolve()
  /** One payer, one nonce line: payments follow one another. A payment that a reorg takes back is simply not paid. */
  const pay = (order: OrderBody, amount: bigint) => {
    paying = paying.then(async () => {
      const payer = world.chain.wallet(PAYER.privateKey)
      try {
        await inTime(world.chain.mintUsdc(payer.address, amount))
        await inTime(world.chain.pay(payer, { memo: `0x${order.memo}`, merchant: order.payment.merchant_address, amount }))
        count('payments sent')
      } catch {
        count('payments that a reorg disturbed')
      }
    })
    return paying
  }

  const step = async (signal: AbortSignal) => {
    const merchant = random.pick(merchants)
    const dice = random.next()
    if (dice < 0.2) {
      const order = await insist<OrderBody>(merchant, `/api/v1/subscriptions/${merchant.subscriptionId}/charge`, {}, signal)
      if (!order?.memo) return
      answered.set(order.id, { order, merchant })
      count('charges')
      return void pay(order, units(order.usdc_amount))
    }
    const expires = dice < 0.3 ? { expires_in: 10 } : {}
    const order = await insist<OrderBody>(merchant, '/api/v1/orders', { brl_amount: `${random.between(1, 500)}.00`, ...expires }, signal)
    if (!order) return
    answered.set(order.id, { order, merchant })
    count('orders')
    const full = units(order.usdc_amount)
    const fate = random.next()
    if (fate < 0.5) void pay(order, full)
    else if (fate < 0.65) void pay(order, full / 2n).then(() => pay(order, full - full / 2n + 1n))
    else if (fate < 0.72) void pay(order, full / 3n)
    else if (fate < 0.8) void pay(order, full).then(() => pay(order, full))
    else if (fate < 0.85) void pay(order, full * 2n)
    else if (fate < 0.95) {
      await insist(merchant, `/api/v1/orders/${order.id}/cancel`, {}, signal)
      count('cancellations')
      if (fate > 0.9) void pay(order, full)
    }
  }
  return {
    merchants,
    answered,
    counts,
    async run(signal) {
      while (!signal.aborted) {
        await step(signal)
        await new Promise(resolve => setTimeout(resolve, random.between(20, 150)))
      }
      await paying
    },
    stop: async () => void (await Promise.all(merchants.map(({ receiver }) => receiver.stop?.()))),
  }
}

async function inTime(sent: Promise<{ wait(confirmations: number, timeoutMs: number): Promise<unknown> }>): Promise<void> {
  await (await sent).wait(1, MINED_WAIT_MS)
}
