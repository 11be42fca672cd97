import { randomBytes } from 'node:crypto'
import type { OrderBody } from '@ponte/contracts'
import { weighted } from '@ponte/service-kit/testing'
import { units } from '../world'
import type { Payer } from './payer'
import type { Driver, Scene } from './steps'

interface Fate {
  payer: Payer
  order: OrderBody
  /** The amount that the payer is asked for. */
  full: bigint
  otherRouter: string
  cancel(): Promise<unknown>
}

const stranger = () => `0x${randomBytes(20).toString('hex')}`

/** Possible fates of an order, with their weights. */
const FATES: [number, (fate: Fate) => unknown][] = [
  [20, ({ payer, order, full }) => payer.pay(order, full)],
  [10, ({ payer, order, full }) => payer.deposit(order, full)],
  [4, ({ payer, order, full }) => payer.payAmong(order, full)],
  [8, ({ payer, order, full }) => payer.authorize(order, full)],
  // Short, then topped up; short for good; twice; too much.
  [6, ({ payer, order, full }) => payer.pay(order, full / 2n).then(() => payer.pay(order, full - full / 2n + 1n))],
  [6, ({ payer, order, full }) => payer.deposit(order, full / 3n).then(() => payer.deposit(order, full - full / 3n + 1n))],
  [4, ({ payer, order, full }) => payer.pay(order, full / 3n)],
  [4, ({ payer, order, full }) => payer.pay(order, full).then(() => payer.pay(order, full))],
  [4, ({ payer, order, full }) => payer.deposit(order, full).then(() => payer.pay(order, full))],
  [4, ({ payer, order, full }) => payer.pay(order, full * 2n)],
  // To another merchant, with an unknown memo, through a router that is not the order's.
  [4, ({ payer, order, full }) => payer.pay(order, full, { merchant: stranger() })],
  [3, ({ payer, order, full }) => payer.pay(order, full, { memo: randomBytes(32).toString('hex') })],
  [3, ({ payer, order, full, otherRouter }) => payer.pay(order, full, { router: otherRouter })],
  [4, ({ cancel }) => cancel()],
  [4, ({ payer, order, full, cancel }) => cancel().then(() => payer.pay(order, full))],
  [5, () => undefined],
]

/** Decides what becomes of an order. Payments go on by themselves; a merchant waits for the answer to what he asks. */
export async function becomes(scene: Scene, { merchant, payer, random }: Driver, order: OrderBody, signal: AbortSignal): Promise<void> {
  let asked: Promise<unknown> | undefined
  const cancel = () => {
    scene.cancelled.add(order.id)
    scene.count('cancellations')
    asked = scene.requests.insist({ path: `/api/v1/orders/${order.id}/cancel`, apiKey: merchant.body.api_key, body: {} }, signal)
    return asked
  }
  weighted(random, FATES)({ payer, order, full: units(order.usdc_amount), otherRouter: scene.otherRouter, cancel })
  await asked
}
