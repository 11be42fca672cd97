import { randomUUID } from 'node:crypto'
import type { OrderBody } from '@ponte/contracts'
import { type Random, weighted } from '@ponte/service-kit/testing'
import type { Wallet } from 'ethers'
import { units } from '../world'
import { becomes } from './fates'
import type { Payer } from './payer'
import type { Receiver } from './receiver'
import { returnMoney } from './refunds'
import type { Post, Requests } from './requests'
import { moveOwn, moveTill, payDirectly, type Till } from './tills'

export interface Merchant {
  body: { id: string; api_key: string; token: string; payout_address: string | null }
  receiver: Receiver
  /** Of the payout address. */
  wallet: Wallet
  /** The network on which they are paid elsewhere, at the first of these to begin with; at any of them, or as on all others, when it moves. */
  own: { chainId: number; wallets: readonly [Wallet, ...Wallet[]]; isMoved: boolean } | null
  /** The one without a plan first, then those with one. */
  subscriptionIds: string[]
}

/** One merchant and those who pay him: everything they do follows from `random`. */
export interface Driver {
  merchant: Merchant
  payer: Payer
  random: Random
}

/** Of all payout addresses that they ever have. */
export const walletsOf = ({ wallet, own }: Merchant): Wallet[] => [wallet, ...(own?.wallets ?? [])]
/** In lower case. */
export const payoutsOf = (merchant: Merchant): string[] => walletsOf(merchant).map(({ address }) => address.toLowerCase())

/** Shared by all drivers, and read by the audit in the end. */
export interface Scene {
  requests: Requests
  /** A second router, which the listener watches and no order names. */
  otherRouter: string
  tills: readonly Till[]
  /** Every order that the API answered with 2xx, by id. */
  answered: Map<string, { order: OrderBody; merchant: Merchant }>
  /** Orders that their merchant asked to cancel, whatever was answered. */
  cancelled: Set<string>
  /** Every refund that was asked for, by its payee, whatever was answered. */
  refunds: Map<string, { order: OrderBody; merchant: Merchant; amount: bigint; isSigned: boolean }>
  /** To be done later; the run ends when it is. */
  later: Set<Promise<void>>
  count(name: string): void
}

export type Step = (scene: Scene, driver: Driver, signal: AbortSignal) => Promise<unknown>

/** External references of requests that must be refused begin with this, so that an effect of one would be seen. */
export const REFUSED = 'refused-'

const LIFE_SHORT_S = 10
const PLANS_MIN = 4

/** One thing that a merchant or a payer does. */
export const step: Step = (scene, driver, signal) => weighted(driver.random, ALL)(scene, driver, signal)

const ALL: [number, Step][] = [
  [
    55,
    async (scene, driver, signal) => {
      const order = await createOrder(scene, driver, signal)
      if (order) await becomes(scene, driver, order, signal)
    },
  ],
  [8, payLate],
  [12, charge],
  [4, subscribe],
  [8, payPlan],
  [2, cancelPlan],
  [25, returnMoney],
  [16, payDirectly],
  [4, moveTill],
  [3, moveOwn],
  [11, askNonsense],
]

function keep({ answered }: Scene, merchant: Merchant, order: OrderBody | null): OrderBody | null {
  // A charge whose order is still on its way is answered with its id alone.
  if (!order?.memo) return null
  answered.set(order.id, { order, merchant })
  return order
}

async function createOrder(scene: Scene, { merchant, random }: Driver, signal: AbortSignal, more: object = {}): Promise<OrderBody | null> {
  const { requests, count } = scene
  const key = randomUUID()
  const request = {
    path: '/api/v1/orders',
    apiKey: merchant.body.api_key,
    key,
    body: { brl_amount: `${random.between(1, 500)}.00`, external_ref: key, ...more },
  }
  const order = keep(scene, merchant, await requests.insist<OrderBody>(request, signal))
  if (!order) return null
  count('orders')
  if (random.chance(0.2)) await repeat(scene, request, order)
  return order
}

/** The same key again is the same answer; with another body it is refused. */
async function repeat({ requests, count }: Scene, request: Post & { key: string }, order: OrderBody): Promise<void> {
  const again = await requests.post(request)
  if (again !== null && again.status < 500) {
    count('repeated with the same key')
    const { id } = again.body as { id?: string }
    if (again.status !== 201 || id !== order.id || !again.replayed)
      requests.wrong.push(`order ${order.id}, asked for again with its key, was answered ${again.status} ${id}`)
  }
  await requests.refused({ ...request, body: { brl_amount: '1.00', external_ref: `${REFUSED}${request.key}` } }, 422)
}

async function payLate(scene: Scene, driver: Driver, signal: AbortSignal): Promise<void> {
  const order = await createOrder(scene, driver, signal, { expires_in: LIFE_SHORT_S })
  if (!order || driver.random.chance(0.3)) return
  const pays = driver.random.chance(0.5) ? driver.payer.pay : driver.payer.deposit
  const paid: Promise<void> = pause(LIFE_SHORT_S * 1_000, signal)
    .then(() => pays(order, units(order.usdc_amount)))
    .finally(() => scene.later.delete(paid))
  scene.later.add(paid)
}

async function charge(scene: Scene, { merchant, payer }: Driver, signal: AbortSignal): Promise<void> {
  const path = `/api/v1/subscriptions/${merchant.subscriptionIds[0]}/charge`
  const request = { path, apiKey: merchant.body.api_key, body: {} }
  const charged = keep(scene, merchant, await scene.requests.insist<OrderBody>(request, signal))
  if (!charged) return
  scene.count('charges')
  void payer.pay(charged, units(charged.usdc_amount))
}

async function subscribe({ requests, count }: Scene, { merchant, random }: Driver, signal: AbortSignal): Promise<void> {
  const body = { brl_amount: '9.90', interval: random.pick(['day', 'week', 'month']), max_periods: 1 }
  const made = await requests.insist<{ id: string }>({ path: '/api/v1/subscriptions', apiKey: merchant.body.api_key, body }, signal)
  if (!made) return
  merchant.subscriptionIds.push(made.id)
  count('plans')
}

async function payPlan(scene: Scene, { merchant, payer, random }: Driver): Promise<void> {
  const { requests } = scene
  const { api_key } = merchant.body
  const id = random.pick(merchant.subscriptionIds)
  const found = await requests.get<{ open_order_id: string | null }>(`/api/v1/subscriptions/${id}`, api_key)
  if (!found?.open_order_id) return
  const issued = keep(scene, merchant, await requests.get<OrderBody>(`/api/v1/orders/${found.open_order_id}`, api_key))
  if (issued?.status === 'pending') void payer.deposit(issued, units(issued.usdc_amount))
}

async function cancelPlan({ requests }: Scene, { merchant, random }: Driver, signal: AbortSignal): Promise<void> {
  const plans = merchant.subscriptionIds.slice(1)
  if (plans.length < PLANS_MIN) return
  const path = `/api/v1/subscriptions/${random.pick(plans)}/cancel`
  await requests.insist({ path, apiKey: merchant.body.api_key, body: {} }, signal)
}

async function askNonsense({ requests, answered }: Scene, { merchant, random }: Driver): Promise<void> {
  const external_ref = `${REFUSED}${randomUUID()}`
  const apiKey = merchant.body.api_key
  const strangers = [...answered.values()].filter(one => one.merchant !== merchant)
  const orders = '/api/v1/orders'
  const [request, status] = random.pick<readonly [Post, number]>([
    [{ path: orders, apiKey, body: { brl_amount: 12.5, external_ref } }, 400],
    [{ path: orders, apiKey, body: { brl_amount: '0.00', external_ref } }, 400],
    [{ path: orders, apiKey, body: { brl_amount: '1.00', external_ref, tip: '1.00' } }, 400],
    [{ path: orders, apiKey, body: `{"brl_amount":"1.00","external_ref":"${external_ref}"` }, 400],
    [{ path: orders, apiKey: null, body: { brl_amount: '1.00', external_ref } }, 401],
    [{ path: orders, apiKey: `sk_live_${'0'.repeat(64)}`, body: { brl_amount: '1.00', external_ref } }, 401],
    [{ path: `${orders}/${randomUUID()}/cancel`, apiKey, body: {} }, 404],
    [{ path: '/api/v1/subscriptions', apiKey, body: { brl_amount: '1.00', external_ref, interval: 'fortnight' } }, 400],
    ...(strangers.length > 0 ? [[{ path: `${orders}/${random.pick(strangers).order.id}/cancel`, apiKey, body: {} }, 403] as const] : []),
  ])
  await requests.refused(request, status)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
