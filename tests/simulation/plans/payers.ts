import { type Random, weighted } from '@ponte/service-kit/testing'
import type { ordersInMemory } from './orders-in-memory'

type Orders = ReturnType<typeof ordersInMemory>
type Payment = Parameters<Orders['reported']>[1]

export const HOUR = 3_600_000

interface PayerDeps {
  random: Random
  orders: Orders
  now(): number
  /** Does something after so many ms. */
  later(after: number, act: () => void): void
  /** As the listener reports it. */
  report(orderId: string, payment: Payment): void
  paid(isGone: boolean): void
  /** Called once for each order when it is there. */
  seen(orderId: string): void
}

/** The payer of each order makes up their mind when it is there: pays, at the last moment, in part, late, twice, never, or in a block that a reorganisation takes away. */
export function payers({ random, orders, now, later, report, paid, seen }: PayerDeps) {
  const met = new Set<string>()
  let payments = 0
  const pay = (orderId: string, percent: number) => {
    const grossUnits = (orders.amountOf(orderId) * BigInt(percent)) / 100n
    if (grossUnits === 0n) return
    payments += 1
    const payment: Payment = {
      id: `p${payments}`,
      kind: 'router',
      blockHash: null,
      generation: null,
      version: 1,
      status: 'detected',
      grossUnits,
      payerAddress: '0xb',
      depositAddress: null,
      txHash: `0x${payments.toString(16).padStart(64, '0')}`,
      blockNumber: BigInt(Math.floor(now() / 1000)),
      blockTime: new Date(now()),
      logIndex: 0,
    }
    const isGone = random.chance(0.1)
    paid(isGone)
    later(2_000, () => report(orderId, payment))
    later(20_000, () => report(orderId, { ...payment, version: 2, status: isGone ? 'orphaned' : 'confirmed' }))
  }
  const decide = (orderId: string, lifeMs: number) => {
    const soon = () => Math.floor(random.next() * Math.max(1, lifeMs - 60_000))
    const payLater = (after: number, percent: number) => later(after, () => pay(orderId, percent))
    const mind = weighted(random, [
      [9, 'pays'],
      [3, 'in the last minute'],
      [2, 'late'],
      [2, 'part'],
      [1, 'twice'],
      [5, 'never'],
    ] as const)
    if (mind === 'pays' || mind === 'twice') payLater(soon(), 100)
    if (mind === 'twice') payLater(soon(), 100)
    if (mind === 'in the last minute') payLater(Math.max(1_000, lifeMs - random.between(31, 60) * 1_000), 100)
    if (mind === 'part') payLater(soon(), 60)
    if (mind === 'late') payLater(lifeMs + random.between(1, 40) * HOUR, 100)
  }
  return () => {
    if (met.size === orders.orders.size) return
    for (const [orderId, { ledger }] of orders.orders) {
      if (met.has(orderId)) continue
      met.add(orderId)
      seen(orderId)
      decide(orderId, ledger.order.expiresAt.getTime() - now())
    }
  }
}
