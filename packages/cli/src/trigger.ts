import { setTimeout as pause } from 'node:timers/promises'
import type { Order, Ponte, StoredEvent } from '@ponte/sdk'
import { demandTestChain, payOrder } from './payments'
import { UsageError } from './profile'

export interface TriggerOptions {
  ponte: Ponte
  baseUrl: string
  /** Each step as it is done. */
  step(text: string): void
}

type Trigger = (of: Steps) => Promise<{ id: string }>

interface Steps {
  ponte: Ponte
  order(body?: object): Promise<Order>
  pay(order: Order, amount?: string): Promise<void>
  until(order: Order, status: Order['status']): Promise<void>
}

const LATE_S = 10
const WAIT_MS = 90_000
const LOOK_MS = 300

/** Each does for real what the event is about. */
const triggers: Record<string, Trigger> = {
  'order.paid': async ({ order, pay }) => paid(await order(), pay),
  'order.underpaid': async ({ order, pay }) => {
    const made = await order()
    await pay(made, half(made.usdc_amount))
    return made
  },
  'order.overpaid': async ({ order, pay }) => {
    const made = await order()
    await pay(made, plusOne(made.usdc_amount))
    return made
  },
  'order.duplicate': async ({ order, pay, until }) => {
    const made = await order()
    await pay(made)
    await until(made, 'paid')
    await pay(made, made.usdc_amount)
    return made
  },
  'order.cancelled': async ({ ponte, order }) => ponte.orders.cancel((await order()).id),
  'order.paid_after_cancel': async ({ ponte, order, pay }) => {
    const made = await order()
    await ponte.orders.cancel(made.id)
    await pay(made, made.usdc_amount)
    return made
  },
  'order.expired': async ({ order, until }) => {
    const made = await order({ expires_in: LATE_S })
    await until(made, 'expired')
    return made
  },
  'order.paid_late': async ({ order, pay, until }) => {
    const made = await order({ expires_in: LATE_S })
    await until(made, 'expired')
    await pay(made, made.usdc_amount)
    return made
  },
  'order.settled': async ({ order, pay }) => paid(await order(), pay),
  'order.accepted': async ({ ponte, order, pay, until }) => {
    const made = await order()
    await pay(made, half(made.usdc_amount))
    await until(made, 'underpaid')
    return ponte.orders.accept(made.id, { reason: 'ponte trigger' })
  },
  'subscription.charged': async ({ ponte, pay }) => {
    const subscription = await ponte.subscriptions.create({ brl_amount: '10.00', description: 'ponte trigger' })
    await pay(await chargedOrder(ponte, subscription.id))
    return { id: subscription.id }
  },
  'subscription.cancelled': async ({ ponte }) => {
    const subscription = await ponte.subscriptions.create({ brl_amount: '10.00', description: 'ponte trigger' })
    return ponte.subscriptions.cancel(subscription.id)
  },
  'subscription.expired': async ({ ponte, pay }) => {
    const subscription = await ponte.subscriptions.create({ brl_amount: '10.00', max_periods: 1, description: 'ponte trigger' })
    await pay(await chargedOrder(ponte, subscription.id))
    return { id: subscription.id }
  },
}

export const triggerable = Object.keys(triggers)

/** Makes an event happen on a test chain, and gives it as it can be pulled. */
export async function trigger(type: string, { ponte, baseUrl, step }: TriggerOptions): Promise<StoredEvent> {
  const run = Object.hasOwn(triggers, type) ? triggers[type] : undefined
  if (!run) throw new UsageError(`${type} cannot be triggered. These can: ${triggerable.join(', ')}.`)
  const before = (await ponte.events.list({ limit: 1 })).data[0]?.cursor ?? 0
  const made = await run({
    ponte,
    order: async body => {
      const order = await ponte.orders.create({ brl_amount: '10.00', description: 'ponte trigger', ...body })
      step(`order ${order.id}`)
      // Before anything is asked of a chain with real money.
      demandTestChain(order)
      return order
    },
    pay: async (order, amount) => {
      const payments = await payOrder(baseUrl, order, amount === undefined ? {} : { amount })
      for (const payment of payments) step(`paid ${payment.amount} USDC: ${payment.tx_hash}`)
    },
    until: async (order, status) => {
      step(`waiting until the order is ${status}`)
      const deadline = Date.now() + WAIT_MS
      while ((await ponte.orders.get(order.id)).status !== status) {
        if (Date.now() > deadline) throw new UsageError(`Order ${order.id} did not become ${status} in ${WAIT_MS / 1_000} s.`)
        await pause(LOOK_MS)
      }
    },
  })
  const signal = AbortSignal.timeout(WAIT_MS)
  for await (const event of ponte.events.follow({ after: before, types: [type], signal })) if (concerns(event, made.id)) return event
  throw new UsageError(`${type} did not come within ${WAIT_MS / 1_000} s.`)
}

const concerns = ({ data }: StoredEvent, id: string) => {
  const { id: own, subscription_id } = Object(data)
  return own === id || subscription_id === id
}

async function paid(order: Order, pay: Steps['pay']): Promise<Order> {
  await pay(order)
  return order
}

async function chargedOrder(ponte: Ponte, id: string): Promise<Order> {
  const charge = await ponte.subscriptions.charge(id)
  return charge.object === 'order' ? charge : ponte.orders.get(charge.order_id)
}

const units = (decimal: string) => BigInt(decimal.replace('.', ''))
const decimal = (value: bigint) => `${value / 1_000_000n}.${String(value % 1_000_000n).padStart(6, '0')}`
const half = (amount: string) => decimal(units(amount) / 2n)
const plusOne = (amount: string) => decimal(units(amount) + 1_000_000n)
