import { setTimeout as pause } from 'node:timers/promises'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, createMerchant, jsonRequest, PAYER, startNotingReceiver, units, type World } from '../world'

const REQUEST_EVERY_MS = 250
const PAYMENT_EVERY_MS = 1_000
const CHARGE_EVERY_MS = 2_000
const PATIENCE_MS = 20_000
/** Orders that wait to be paid, so that payers go on while no order can be made. */
const STOCK = Number(process.env.DRILL_STOCK ?? 600)
const A_DAY_S = 86_400

export interface Asked {
  what: 'POST' | 'GET' | 'charge'
  at: number
  /** When it was answered, or given up. */
  endedAt: number
  status: number | null
  /** Why, unless the answer is well. */
  reason: string | null
}

export interface Paid {
  id: string
  at: number
  units: bigint
}

/** An order that was answered with 2xx. */
export interface Made {
  id: string
  subscriptionId: string | null
}

export interface TrafficOptions {
  /** Every second payment is for the newest order, so that what is made meanwhile is paid too; and subscriptions are charged. */
  paysNewest?: boolean
}

/**
 * Orders made without a key, lists and payments at a steady pace, whatever becomes of them; a payment goes straight to the chain, and its webhook to a
 * receiver that is never away.
 */
export async function startTraffic(world: World, gatewayUrl: string, { paysNewest = false }: TrafficOptions = {}) {
  const receiver = await startNotingReceiver(() => Date.now())
  const { notifiedAt } = receiver
  const merchant = await createMerchant(world, gatewayUrl, receiver.url)
  const asked: Asked[] = []
  const paid: Paid[] = []
  const made: Made[] = []
  const stock: OrderBody[] = []
  const newest: OrderBody[] = []
  const charged: OrderBody[] = []
  const subscriptions: string[] = []
  const open = new Set<Promise<void>>()
  const stopped = new AbortController()
  const payer = world.chain.wallet(PAYER.privateKey)
  await mined(world.chain.mintUsdc(payer.address, 10n ** 15n))

  const keep = (order: OrderBody) => {
    // A charge whose order is still on its way is answered with its id alone; one that is open is answered again.
    if (!order.memo || made.some(({ id }) => id === order.id)) return
    made.push({ id: order.id, subscriptionId: order.subscription_id })
    if (!paysNewest) return
    if (order.subscription_id === null) newest.push(order)
    else charged.push(order)
  }
  const ask = async (what: Asked['what'], path: string, body?: object) => {
    const at = Date.now()
    const request = jsonRequest(body ? 'POST' : 'GET', merchant.api_key, body)
    const answered = await fetch(`${gatewayUrl}${path}`, { ...request, signal: AbortSignal.timeout(PATIENCE_MS) }).then(
      async answer => {
        const text = await answer.text()
        if (body && answer.ok) keep(JSON.parse(text))
        return { status: answer.status, reason: answer.ok ? null : text.slice(0, 200) }
      },
      error => ({ status: null, reason: String(error.cause ?? error) }),
    )
    asked.push({ what, at, endedAt: Date.now(), ...answered })
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
  }
  const chargeOne = () => {
    const id = subscriptions.shift()
    if (id === undefined) return
    subscriptions.push(id)
    send(ask('charge', `/api/v1/subscriptions/${id}/charge`, {}))
  }
  const payOne = async () => {
    const fresh = () => charged.shift() ?? newest.pop()
    const order = paid.length % 2 === 0 ? (fresh() ?? stock.shift()) : (stock.shift() ?? fresh())
    if (!order) return
    const amount = units(order.usdc_amount)
    await mined(world.chain.pay(payer, { memo: `0x${order.memo}`, merchant: order.payment.merchant_address, amount }))
    paid.push({ id: order.id, at: Date.now(), units: amount })
  }
  let running: Promise<unknown> = Promise.resolve()
  return {
    asked,
    paid,
    made,
    subscriptions,
    notifiedAt,
    merchant,
    /** Makes orders until there are enough to pay for a while. */
    async fill() {
      const create = () =>
        call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '1.00', expires_in: A_DAY_S })
      while (stock.length < STOCK) stock.push(...(await Promise.all(Array.from({ length: 20 }, create))))
    },
    /** A subscription that the merchant charges from now on. */
    async subscribe() {
      const { id } = await call<{ id: string }>(gatewayUrl, 'POST', '/api/v1/subscriptions', merchant.api_key, { brl_amount: '2.00' })
      subscriptions.push(id)
      return id
    },
    run() {
      running = Promise.all([repeat(REQUEST_EVERY_MS, requests), repeat(PAYMENT_EVERY_MS, payOne), repeat(CHARGE_EVERY_MS, chargeOne)])
    },
    /** Resolves once each payment so far was notified; of orders that are `lost` none is. */
    settled: (withinMs: number, lost: ReadonlySet<string> = new Set()) => {
      const due = paid.filter(({ id }) => !lost.has(id))
      const late = () => due.filter(({ id }) => !notifiedAt.has(id))
      return until(
        () => late().length === 0,
        () => `payments of ${late().length} orders were not notified: ${late().map(({ id }) => id)}`,
        withinMs,
      )
    },
    async stop() {
      stopped.abort()
      await running
      await Promise.all(open)
      receiver.stop()
    },
  }
}
export type Traffic = Awaited<ReturnType<typeof startTraffic>>
