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

/** Not the exchange of events: who listens is no reader, and an event that has none must be refused. */
export const announcements = (namespace: string) => `${namespace}.announcements`

/**
 * Declares the exchange and, for each name of the topology, its queue, bound to the types that its reader knows, its dead letters and where messages wait that
 * were handed back; all of it durable. A queue that is there is left as it is, because its limits belong to the operator and to other versions.
 */
export async function declareTopology(model: ChannelModel, namespace: string, topology: Topology, step: Step): Promise<void> {
  const names = Object.keys(topology)
  const wanted = names.flatMap(name => {
    const [queue, dead, later] = [`${namespace}.${name}`, `${namespace}.dead.${name}`, `${namespace}.later.${name}`]
    return [
      { queue: dead, settings: { 'x-queue-type': 'quorum' } },
      { queue, settings: { ...deadLetterTo(dead), 'x-delivery-limit': DELIVERY_LIMIT } },
      { queue: later, settings: deadLetterTo(queue) },
    ]
  })
  const found = await Promise.all(wanted.map(({ queue }) => step(`look for the queue ${queue}`, messagesIn(model, queue))))
  const channel = await step('open the declaring channel', model.createChannel())
  channel.on('error', () => undefined)
  await step('declare the exchange', channel.assertExchange(`${namespace}.events`, 'topic', { durable: true }))
  await step('declare the exchange of announcements', channel.assertExchange(announcements(namespace), 'topic', { durable: true }))
  for (const { queue, settings } of wanted.filter((_, index) => found[index] === null)) {
    await step(`declare the queue ${queue}`, channel.assertQueue(queue, { durable: true, arguments: settings }))
  }
  // Only ever added: another version may read more. A queue at a time, because a slow broker has to write each of them within the deadline of its step.
  for (const name of names) {
    const bindings = (topology[name] ?? []).map(type => channel.bindQueue(`${namespace}.${name}`, `${namespace}.events`, type))
    await step(`bind the queue ${namespace}.${name}`, Promise.all(bindings))
  }
  await step('close the declaring channel', channel.close())
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
