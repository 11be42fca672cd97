import type { ChannelModel } from 'amqplib'
import type { Topology } from './bus'
import type { Step } from './rabbitmq-connection'

/** Deliveries after which the broker parks a message by itself: one that ends every process that takes it. */
const DELIVERY_LIMIT = 20

/**
 * Declares the exchange of announcements and, for each name of the topology, its queue and its dead letters; all of it durable. Resolves to the
 * names whose queue was not there.
 */
export async function declareTopology(model: ChannelModel, namespace: string, topology: Topology, step: Step): Promise<string[]> {
  const names = Object.keys(topology)
  const found = await Promise.all(names.map(name => step(`look for the queue ${name}`, queueExists(model, `${namespace}.${name}`))))
  const channel = await step('open the declaring channel', model.createChannel())
  channel.on('error', () => undefined)
  await step('declare the exchange', channel.assertExchange(`${namespace}.events`, 'topic', { durable: true }))
  for (const name of names) {
    const dead = `${namespace}.dead.${name}`
    await step(`declare the queue ${dead}`, channel.assertQueue(dead, { durable: true, arguments: { 'x-queue-type': 'quorum' } }))
    const settings = {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DELIVERY_LIMIT,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
      // Without these two a dead letter may be lost on its way.
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    }
    await step(`declare the queue ${name}`, channel.assertQueue(`${namespace}.${name}`, { durable: true, arguments: settings }))
  }
  await step('close the declaring channel', channel.close())
  return names.filter((_, index) => !found[index])
}

/** The broker closes the channel on which it was asked for a queue that is not there. */
async function queueExists(model: ChannelModel, queue: string): Promise<boolean> {
  const channel = await model.createChannel()
  channel.on('error', () => undefined)
  try {
    await channel.checkQueue(queue)
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 404) return false
    throw error
  }
  await channel.close()
  return true
}
