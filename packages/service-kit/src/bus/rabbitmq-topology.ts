import type { Topology } from './bus'

/** Deliveries after which the broker parks a message by itself: one that ends every process that takes it. */
const DELIVERY_LIMIT = 20

/** What declaring needs of a channel. */
interface Declaring {
  assertExchange(name: string, type: string, options: { durable: boolean }): Promise<unknown>
  assertQueue(name: string, options: { durable: boolean; arguments: Record<string, unknown> }): Promise<unknown>
  bindQueue(queue: string, exchange: string, pattern: string): Promise<unknown>
}

/** Declares the exchange and, for each name of the topology, its queue, its dead letters and its bindings; all of it durable. */
export async function declare(channel: Declaring, namespace: string, topology: Topology): Promise<void> {
  await channel.assertExchange(`${namespace}.events`, 'topic', { durable: true })
  for (const [name, types] of Object.entries(topology)) {
    const dead = `${namespace}.dead.${name}`
    await channel.assertQueue(dead, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
    await channel.assertQueue(`${namespace}.${name}`, {
      durable: true,
      arguments: {
        'x-queue-type': 'quorum',
        'x-delivery-limit': DELIVERY_LIMIT,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': dead,
        // Without these two a dead letter may be lost on its way.
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
    })
    for (const type of types) await channel.bindQueue(`${namespace}.${name}`, `${namespace}.events`, type)
  }
}
