import type { Logger } from '../observe/logger'
import type { Bus, Topology } from './bus'
import { rabbitmqConsumers } from './rabbitmq-consumers'
import { rabbitmqPublisher } from './rabbitmq-publisher'

export interface RabbitmqOptions {
  url: string
  /** Prefix of exchange and queues: `ponte` gives `ponte.events`, `ponte.orders`, `ponte.dead.orders`. */
  namespace: string
  topology: Topology
  logger: Logger
  /** How long the broker may take for one step of a connection's set-up. */
  stepTimeoutMs?: number
  handBackMs?: number
  /** How long the broker may take to confirm a message. */
  confirmTimeoutMs?: number
}

/**
 * RabbitMQ: a quorum queue and a dead-letter queue for each name of the topology, one durable topic exchange for announcements. Publishing and
 * consuming have a connection each, which recover for ever; while there is none, `publish` rejects and the outbox keeps the message. A broker
 * that is away does not make a service unready: it can still answer HTTP.
 */
export function rabbitmqBus(options: RabbitmqOptions): Bus {
  let state: 'new' | 'consuming' | 'stopped' = 'new'
  // Consumers attach when their queues are declared and messages are taken, so that none of them holds up publishing.
  const onDeclared = () => {
    if (state !== 'new') return
    state = 'consuming'
    consumers.start().catch(error => options.logger.error('the consuming connection did not start', { error }))
  }
  const publisher = rabbitmqPublisher({ ...options, onDeclared })
  const consumers = rabbitmqConsumers({ ...options, handBack: publisher.handBack })
  return {
    name: 'rabbitmq',
    accepts: publisher.accepts,
    publish: publisher.publish,
    announce: publisher.announce,
    start: publisher.start,
    async stop() {
      state = 'stopped'
      await Promise.all([publisher.stop(), consumers.stop()])
    },
    consume(queue, handler, settings = {}) {
      if (!(queue in options.topology)) throw new Error(`The topology has no queue ${queue}.`)
      return consumers.consume(queue, handler, settings)
    },
    deadLetters: consumers.deadLetters,
    listen: consumers.listen,
    observe(metrics) {
      const help = 'Connections to the broker that work, of two: publishing and consuming'
      metrics.observed('ponte_bus_connections', help, () => Number(publisher.connected()) + Number(consumers.connected()))
      metrics.observed('ponte_bus_accepts', 'One while the broker takes messages', () => Number(publisher.accepts()))
    },
  }
}
