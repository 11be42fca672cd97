import { type Channel, type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect, type RecoveringChannelModel } from 'amqplib'
import { type Bus, type Handler, handle, type Message, type Topology } from './bus'
import type { Logger } from './logger'
import type { Part } from './service'

const DELIVERY_LIMIT = 20
const CONFIRM_TIMEOUT_MS = 10_000

export interface RabbitmqOptions {
  url: string
  /** Prefix of exchange and queues: `ponte` gives `ponte.events`, `ponte.orders`, `ponte.dead.orders`. */
  namespace: string
  topology: Topology
  logger: Logger
}

interface Pending {
  resolve(): void
  reject(error: Error): void
}

/** What is set up anew on every connection: a consumer or a listener, told the fresh model. */
type Attachment = (model: ChannelModel) => Promise<void>

/**
 * RabbitMQ: one durable topic exchange, a quorum queue and a dead-letter queue for each name of the topology, confirms with `mandatory`.
 * amqplib's own recovery reconnects for ever and declares everything again; while there is no connection, `publish` rejects
 * and the outbox keeps the message.
 */
export function rabbitmqBus(options: RabbitmqOptions): Bus {
  const { namespace, topology, logger } = options
  const exchange = `${namespace}.events`
  const attachments = new Set<Attachment>()
  const pending = new Map<string, Set<Pending>>()
  let connection: RecoveringChannelModel | undefined
  let model: ChannelModel | undefined
  let channel: ConfirmChannel | undefined

  const settle = (id: string, error?: Error) => {
    for (const waiter of pending.get(id) ?? []) error ? waiter.reject(error) : waiter.resolve()
    pending.delete(id)
  }
  const setup = async (fresh: ChannelModel) => {
    const confirming = await fresh.createConfirmChannel()
    watch(fresh, confirming)
    await declare(confirming, namespace, topology)
    // The broker sends a return before its confirm: whatever no queue took is rejected first, and the late confirm finds nobody.
    confirming.on('return', message =>
      settle(String(message.properties.messageId), new Error(`No queue takes ${message.fields.routingKey}.`)),
    )
    confirming.on('close', () => {
      if (channel === confirming) channel = undefined
      for (const id of [...pending.keys()]) settle(id, new Error('The broker connection was lost before it confirmed.'))
    })
    model = fresh
    for (const attach of attachments) await attach(fresh)
    channel = confirming
  }
  const watch = (fresh: ChannelModel, watched: Channel) => {
    watched.on('error', error => logger.warn('a broker channel failed', { error }))
    // A channel that closes alone leaves a connection that looks healthy: close that too, and recovery makes both anew.
    watched.on('close', () => {
      if (model === fresh) void fresh.close().catch(error => logger.debug('the connection was already closed', { error }))
    })
  }
  const attach = async (attachment: Attachment) => {
    attachments.add(attachment)
    // Before the set-up is through, its own loop over the attachments finds this one.
    if (model && channel) await attachment(model)
  }

  return {
    name: 'rabbitmq',
    ready: () => channel !== undefined,
    async start() {
      connection = await connect(options.url, {
        clientProperties: { connection_name: namespace },
        recovery: { initialDelay: 100, maxDelay: 5_000, waitForConnect: false, setup },
      })
      connection.on('error', error => logger.warn('the broker connection failed', { error }))
      connection.on('connect-failed', error => logger.warn('the broker does not answer; trying again', { error }))
      connection.on('disconnect', error => {
        model = undefined
        logger.warn('the broker connection was lost; connecting again', { error })
      })
    },
    async stop() {
      model = undefined
      await connection?.close()
    },
    async publish(message) {
      const confirming = channel
      if (!confirming) throw new Error('There is no connection to the broker.')
      const timer = setTimeout(() => settle(message.id, new Error('The broker did not confirm in time.')), CONFIRM_TIMEOUT_MS)
      try {
        await new Promise<void>((resolve, reject) => {
          pending.set(message.id, (pending.get(message.id) ?? new Set()).add({ resolve, reject }))
          const properties = { persistent: true, mandatory: true, messageId: message.id, contentType: 'application/json' }
          confirming.publish(exchange, message.type, Buffer.from(message.body), properties, error => settle(message.id, error ?? undefined))
        })
      } finally {
        clearTimeout(timer)
      }
    },
    announce(message) {
      channel?.publish(exchange, message.type, Buffer.from(message.body), { messageId: message.id, contentType: 'application/json' })
    },
    consume: (queue, handler, { prefetch = 64 } = {}) =>
      rabbitmqConsumer({ queue: `${namespace}.${queue}`, name: queue, handler, prefetch, attach, watch, current: () => model, logger }),
    listen: (types, handler) => ({
      name: 'announcements',
      start: () =>
        attach(async fresh => {
          const listening = await fresh.createChannel()
          watch(fresh, listening)
          const { queue } = await listening.assertQueue('', { exclusive: true, autoDelete: true, durable: false })
          for (const type of types) await listening.bindQueue(queue, exchange, type)
          await listening.consume(queue, delivery => delivery && handler(toMessage(delivery)), { noAck: true })
        }),
    }),
  }
}

async function declare(channel: Channel, namespace: string, topology: Topology): Promise<void> {
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

const toMessage = (delivery: ConsumeMessage): Message => ({
  id: String(delivery.properties.messageId),
  type: delivery.fields.routingKey,
  body: delivery.content.toString('utf8'),
})

interface ConsumerOptions {
  queue: string
  name: string
  handler: Handler
  prefetch: number
  attach(attachment: Attachment): Promise<void>
  watch(model: ChannelModel, channel: Channel): void
  current(): ChannelModel | undefined
  logger: Logger
}

function rabbitmqConsumer(options: ConsumerOptions): Part {
  const { queue, handler, logger } = options
  const aborted = new AbortController()
  const inHand = new Set<Promise<void>>()
  let channel: Channel | undefined
  let consumerTag: string | undefined

  const take = async (delivery: ConsumeMessage, from: Channel) => {
    const outcome = await handle(toMessage(delivery), handler, aborted.signal, logger)
    // An answer belongs to the channel that delivered; on a newer one it would be a protocol error, and the broker delivers again anyway.
    if (from !== channel) return
    if (outcome === 'done') from.ack(delivery)
    else if (outcome === 'dead') from.reject(delivery, false)
    else from.nack(delivery, false, true)
  }
  return {
    name: `${options.name} queue`,
    busy: async () => {
      if (inHand.size > 0) return true
      return channel ? (await channel.checkQueue(queue)).messageCount > 0 : false
    },
    start: () =>
      options.attach(async model => {
        if (aborted.signal.aborted) return
        const fresh = await model.createChannel()
        options.watch(model, fresh)
        fresh.on('close', () => {
          if (channel === fresh) channel = undefined
        })
        await fresh.prefetch(options.prefetch)
        channel = fresh
        const receive = (delivery: ConsumeMessage | null) => {
          if (!delivery) return
          const work = take(delivery, fresh)
            .catch(error => logger.error('a message could not be answered', { error }))
            .finally(() => inHand.delete(work))
          inHand.add(work)
        }
        consumerTag = (await fresh.consume(queue, receive)).consumerTag
      }),
    async stop() {
      const stopping = channel
      if (stopping && consumerTag)
        await stopping.cancel(consumerTag).catch(error => logger.debug('the consumer was already gone', { error }))
      aborted.abort()
      await Promise.all(inHand)
    },
  }
}
