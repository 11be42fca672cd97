import { setTimeout as pause } from 'node:timers/promises'
import type { Order, Ponte, SimulateTestOrder, StoredEvent } from '@ponte/sdk'
import { inTests } from './payments'
import { UsageError } from './profile'

export interface TriggerOptions {
  ponte: Ponte
  step(text: string): void
}

type Trigger = (of: Steps) => Promise<{ id: string }>

interface Steps {
  ponte: Ponte
  order(): Promise<Order>
  pay(order: Order): Promise<void>
  until(order: Order, status: Order['status']): Promise<void>
}

const WAIT_MS = 90_000
const LOOK_MS = 300

/** Of a new order, with which this is simulated. */
const of =
  (scenario: SimulateTestOrder['scenario']): Trigger =>
  async ({ ponte, order }) => {
    const made = await order()
    await ponte.testing.simulate(made.id, { scenario })
    return made
  }

const paid: Trigger = async ({ order, pay }) => {
  const made = await order()
  await pay(made)
  return made
}

/** Each does for real what the event is about. */
const triggers: Record<string, Trigger> = {
  'order.paid': paid,
  'order.settled': paid,
  'order.underpaid': of('underpaid'),
  'order.overpaid': of('overpaid'),
  'order.duplicate': of('duplicate'),
  'order.paid_late': of('late'),
  'order.expired': of('late'),
  'order.paid_after_cancel': of('after_cancel'),
  'order.cancelled': async ({ ponte, order }) => ponte.orders.cancel((await order()).id),
  'order.accepted': async ({ ponte, order, until }) => {
    const made = await order()
    await ponte.testing.simulate(made.id, { scenario: 'underpaid' })
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

/** Makes an event happen in a deployment for tests, and gives it as it can be pulled. */
export async function trigger(type: string, { ponte, step }: TriggerOptions): Promise<StoredEvent> {
  const run = Object.hasOwn(triggers, type) ? triggers[type] : undefined
  if (!run) throw new UsageError(`${type} cannot be triggered. These can: ${triggerable.join(', ')}.`)
  // Before anything is made where money is real.
  await inTests(() => ponte.testing.clock())
  const before = (await ponte.events.list({ limit: 1 })).data[0]?.cursor ?? 0
  const made = await run({
    ponte,
    order: async () => {
      const order = await ponte.orders.create({ brl_amount: '10.00', description: 'ponte trigger' })
      step(`order ${order.id}`)
      return order
    },
    pay: async order => {
      const { payments } = await ponte.testing.pay(order.id)
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

async function chargedOrder(ponte: Ponte, id: string): Promise<Order> {
  const charge = await ponte.subscriptions.charge(id)
  return charge.object === 'order' ? charge : ponte.orders.get(charge.order_id)
}
