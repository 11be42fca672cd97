import { setTimeout as pause } from 'node:timers/promises'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, createMerchant, PAYER, startNotingReceiver, units, type World } from '../world'

const REQUEST_EVERY_MS = 250
const PAYMENT_EVERY_MS = 1_000
const PATIENCE_MS = 20_000
/** Orders that wait to be paid, so that payers go on while no order can be made. */
const STOCK = Number(process.env.DRILL_STOCK ?? 600)
const A_DAY_S = 86_400

export interface Asked {
  what: 'POST' | 'GET' | 'session'
  at: number
  /** When it was answered, or given up. */
  endedAt: number
  status: number | null
}

export interface Paid {
  id: string
  at: number
}

/**
 * Orders made without a key, lists and payments at a steady pace, whatever becomes of them; a payment goes straight to the chain, and its webhook to a
 * receiver that is never away.
 */
export async function startTraffic(world: World, gatewayUrl: string, sessionToken?: (merchant: { token: string }) => string) {
  const receiver = await startNotingReceiver(() => Date.now())
  const { notifiedAt } = receiver
  const merchant = await createMerchant(world, gatewayUrl, receiver.url)
  const asked: Asked[] = []
  const paid: Paid[] = []
  const stock: OrderBody[] = []
  const open = new Set<Promise<void>>()
  const stopped = new AbortController()
  const payer = world.chain.wallet(PAYER.privateKey)
  await mined(world.chain.mintUsdc(payer.address, 10n ** 15n))

  const ask = async (what: Asked['what'], path: string, body?: object, credential: string = merchant.api_key) => {
    const at = Date.now()
    const status = await fetch(`${gatewayUrl}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${credential}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).then(
      async answer => {
        await answer.arrayBuffer()
        return answer.status
      },
      () => null,
    )
    asked.push({ what, at, endedAt: Date.now(), status })
  }
  const send = (work: Promise<void>) => {
    open.add(work)
    void work.finally(() => open.delete(work))
  }
  const repeat = async (everyMs: number, work: () => unknown) => {
    while (!stopped.signal.aborted) {
      await work()
      await pause(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  }
  const requests = () => {
    send(ask('POST', '/api/v1/orders', { brl_amount: '10.00' }))
    send(ask('GET', '/api/v1/orders?limit=5'))
    if (sessionToken) send(ask('session', '/api/v1/merchants/me', undefined, sessionToken(merchant)))
  }
  const payOne = async () => {
    const order = stock.shift()
    if (!order) return
    const amount = units(order.usdc_amount)
    await mined(world.chain.pay(payer, { memo: `0x${order.memo}`, merchant: order.payment.merchant_address, amount }))
    paid.push({ id: order.id, at: Date.now() })
  }
  let running: Promise<unknown> = Promise.resolve()
  return {
    asked,
    paid,
    notifiedAt,
    merchant,
    /** Makes orders until there are enough to pay for a while. */
    async fill() {
      const create = () =>
        call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '1.00', expires_in: A_DAY_S })
      while (stock.length < STOCK) stock.push(...(await Promise.all(Array.from({ length: 20 }, create))))
    },
    run() {
      running = Promise.all([repeat(REQUEST_EVERY_MS, requests), repeat(PAYMENT_EVERY_MS, payOne)])
    },
    /** Resolves once each payment so far was notified. */
    settled: (withinMs: number) =>
      until(
        () => paid.every(({ id }) => notifiedAt.has(id)),
        () => `${paid.filter(({ id }) => !notifiedAt.has(id)).length} payments were not notified`,
        withinMs,
      ),
    async stop() {
      stopped.abort()
      await running
      await Promise.all(open)
      receiver.stop()
    },
  }
}
export type Traffic = Awaited<ReturnType<typeof startTraffic>>
