import type { ChannelModel } from 'amqplib'
import type { Topology } from './bus'
import type { Step } from './rabbitmq-connection'

/** Deliveries after which the broker parks a message by itself: one that ends every process that takes it. A policy may set another limit. */
const DELIVERY_LIMIT = 20

/** Without the strategy a dead letter may be lost on its way, and the overflow is what the strategy needs. */
const deadLetterTo = (queue: string) => ({
  'x-queue-type': 'quorum',
  'x-dead-letter-exchange': '',
  'x-dead-letter-routing-key': queue,
  'x-dead-letter-strategy': 'at-least-once',
  'x-overflow': 'reject-publish',
})

export interface MissingQueue {
  name: string
  /** When it was certain that the queue is not there, by `performance.now()`. */
  foundAt: number
}

/**
 * Declares the exchange of announcements and, for each name of the topology, its queue, its dead letters and where messages wait that were handed back;
 * all of it durable. A queue that is there is left as it is, because its limits belong to the operator and to other versions. Resolves to the names whose
 * queue was not there.
 */
export async function declareTopology(model: ChannelModel, namespace: string, topology: Topology, step: Step): Promise<MissingQueue[]> {
  const names = Object.keys(topology)
  const wanted = names.flatMap(name => {
    const [queue, dead, later] = [`${namespace}.${name}`, `${namespace}.dead.${name}`, `${namespace}.later.${name}`]
    return [
      { name: null, queue: dead, settings: { 'x-queue-type': 'quorum' } },
      { name, queue, settings: { ...deadLetterTo(dead), 'x-delivery-limit': DELIVERY_LIMIT } },
      { name: null, queue: later, settings: deadLetterTo(queue) },
    ]
  })
  const looked = await Promise.all(
    wanted.map(async each => {
      const messages = await step(`look for the queue ${each.queue}`, messagesIn(model, each.queue))
      return { ...each, isMissing: messages === null, foundAt: performance.now() }
    }),
  )
  const missing = looked.filter(({ isMissing }) => isMissing)
  const channel = await step('open the declaring channel', model.createChannel())
  channel.on('error', () => undefined)
  await step('declare the exchange', channel.assertExchange(`${namespace}.events`, 'topic', { durable: true }))
  for (const { queue, settings } of missing) {
    await step(`declare the queue ${queue}`, channel.assertQueue(queue, { durable: true, arguments: settings }))
  }
  await step('close the declaring channel', channel.close())
  return missing.flatMap(({ name, foundAt }) => (name === null ? [] : [{ name, foundAt }]))
}

/** How many messages wait in a queue; null when it is not there. On a channel of its own, because the broker then closes the one that was used. */
export async function messagesIn(model: ChannelModel, queue: string): Promise<number | null> {
  const channel = await model.createChannel()
  channel.on('error', () => undefined)
  try {
    const { messageCount } = await channel.checkQueue(queue)
    await channel.close()
    return messageCount
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 404) return null
    throw error
  }
}
