import { type Channel, type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect, type RecoveringChannelModel } from 'amqplib'
import type { Logger } from '../observe'
import type { Part } from '../process'
import {
  type Bus,
  type ConsumeOptions,
  type Handler,
  HELD_PER_HANDLER,
  handle,
  type Message,
  type QueuePart,
  slots,
  type Topology,
} from './bus'
import { openConfirms } from './confirms'
import { declare } from './rabbitmq-topology'

const CONFIRM_TIMEOUT_MS = 10_000
const CONNECT_TIMEOUT_MS = 10_000
const HEARTBEAT_S = 15

export interface RabbitmqOptions {
  url: string
  /** Prefix of exchange and queues: `ponte` gives `ponte.events`, `ponte.orders`, `ponte.dead.orders`. */
  namespace: string
  topology: Topology
  logger: Logger
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
  const bound = new Set(Object.values(topology).flat())
  const attachments = new Set<Attachment>()
  const confirms = openConfirms(CONFIRM_TIMEOUT_MS)
  let connection: RecoveringChannelModel | undefined
  let model: ChannelModel | undefined
  let channel: ConfirmChannel | undefined
  let blocked = false

  const setup = async (fresh: ChannelModel) => {
    // Recovery listens only after the set-up; an error without a listener would end the process.
    fresh.on('error', error => logger.warn('the broker connection failed', { error }))
    blocked = false
    fresh.on('blocked', reason => {
      blocked = true
      logger.warn('the broker takes no messages', { reason })
    })
    fresh.on('unblocked', () => {
      blocked = false
    })
    const confirming = await fresh.createConfirmChannel()
    watch(fresh, confirming)
    await declare(confirming, namespace, topology)
    // The broker returns in the order of publication, and before it confirms: the oldest waiter is the one meant, and its confirm comes too late.
    confirming.on('return', message =>
      confirms.refuse(String(message.properties.messageId), new Error(`No queue takes ${message.fields.routingKey}.`)),
    )
    confirming.on('close', () => {
      if (channel === confirming) channel = undefined
    })
    model = fresh
    for (const attach of attachments) await attach(fresh)
    channel = confirming
  }
  // A channel that closes alone leaves a connection that looks healthy: close that too, and recovery makes both anew.
  const renew = (fresh: ChannelModel) => {
    if (model === fresh) void fresh.close().catch(error => logger.debug('the connection was already closed', { error }))
  }
  const watch = (fresh: ChannelModel, watched: Channel) => {
    watched.on('error', error => logger.warn('a broker channel failed', { error }))
    watched.on('close', () => renew(fresh))
  }
  const attach = async (attachment: Attachment) => {
    attachments.add(attachment)
    // Before the set-up is through, its own loop over the attachments finds this one.
    if (!model || !channel) return
    const fresh = model
    await attachment(fresh).catch(error => {
      logger.warn('a part could not be attached to the broker; connecting again', { error })
      renew(fresh)
    })
  }
  const detach = (attachment: Attachment) => void attachments.delete(attachment)
  const attaching = { attach, detach, watch, renew, logger }

  return {
    name: 'rabbitmq',
    ready: () => channel !== undefined,
    async start() {
      const url = new URL(options.url)
      if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_S))
      connection = await connect(url.href, {
        clientProperties: { connection_name: namespace },
        timeout: CONNECT_TIMEOUT_MS,
        // An acknowledgement is followed by a publication: without this the second waits 40 ms for the other side's word on the first.
        noDelay: true,
        recovery: { initialDelay: 100, maxDelay: 5_000, waitForConnect: false, setup },
      })
      connection.on('error', error => logger.debug('the broker connection reported an error', { error }))
      connection.on('connect-failed', error => logger.warn('the broker does not answer; trying again', { error }))
      connection.on('disconnect', error => {
        model = undefined
        logger.warn('the broker connection was lost; connecting again', { error })
      })
    },
    async stop() {
      model = undefined
      channel = undefined
      await connection?.close()
    },
    async publish(message) {
      if (!bound.has(message.type)) throw new Error(`No queue takes ${message.type}.`)
      const confirming = channel
      if (!confirming) throw new Error('There is no connection to the broker.')
      if (blocked) throw new Error('The broker takes no messages now.')
      const properties = { persistent: true, mandatory: true, messageId: message.id, contentType: 'application/json' }
      await confirms.wait(message.id, answer => confirming.publish(exchange, message.type, Buffer.from(message.body), properties, answer))
    },
    announce(message) {
      try {
        channel?.publish(exchange, message.type, Buffer.from(message.body), { messageId: message.id, contentType: 'application/json' })
      } catch (error) {
        logger.debug('an announcement was lost', { type: message.type, error })
      }
    },
    consume(queue, handler, { prefetch = 64, onTry } = {}) {
      if (!(queue in topology)) throw new Error(`The topology has no queue ${queue}.`)
      return rabbitmqConsumer({ queue: `${namespace}.${queue}`, handler, prefetch, onTry, ...attaching })
    },
    listen: (types, handler) => rabbitmqListener({ exchange, types, handler, ...attaching }),
  }
}

/** How a part hangs on whatever connection there is. */
interface Attaching {
  attach(attachment: Attachment): Promise<void>
  detach(attachment: Attachment): void
  watch(model: ChannelModel, channel: Channel): void
  renew(model: ChannelModel): void
  logger: Logger
}

const toMessage = (delivery: ConsumeMessage): Message => ({
  id: String(delivery.properties.messageId),
  type: delivery.fields.routingKey,
  body: delivery.content.toString('utf8'),
})

interface ListenerOptions extends Attaching {
  exchange: string
  types: readonly string[]
  handler: (message: Message) => void
}

function rabbitmqListener({ exchange, types, handler, attach, detach, watch, logger }: ListenerOptions): Part {
  let stopListening: (() => Promise<unknown>) | undefined
  const listen = async (model: ChannelModel) => {
    const listening = await model.createChannel()
    watch(model, listening)
    const { queue } = await listening.assertQueue('', { exclusive: true, autoDelete: true, durable: false })
    for (const type of types) await listening.bindQueue(queue, exchange, type)
    const { consumerTag } = await listening.consume(queue, delivery => delivery && handler(toMessage(delivery)), { noAck: true })
    stopListening = () => listening.cancel(consumerTag)
  }
  return {
    name: 'announcements',
    start: () => attach(listen),
    async stop() {
      detach(listen)
      await stopListening?.().catch(error => logger.debug('the listener was already gone', { error }))
    },
  }
}

interface ConsumerOptions extends Attaching {
  queue: string
  handler: Handler
  prefetch: number
  onTry: ConsumeOptions['onTry'] | undefined
}

function rabbitmqConsumer({ queue, handler, prefetch, onTry, attach, detach, watch, renew, logger }: ConsumerOptions): QueuePart {
  const aborted = new AbortController()
  const handling = { handler, slots: slots(prefetch), signal: aborted.signal, logger, onTry }
  const inHand = new Set<Promise<void>>()
  let channel: Channel | undefined
  let consumerTag: string | undefined

  const waiting = async () => (channel ? (await channel.checkQueue(queue)).messageCount : 0)
  const take = async (delivery: ConsumeMessage, from: Channel) => {
    const outcome = await handle(toMessage(delivery), handling)
    // An answer belongs to the channel that delivered; on a newer one it would be a protocol error, and the broker delivers again anyway.
    if (from !== channel) return
    if (outcome === 'done') from.ack(delivery)
    else if (outcome === 'dead') from.reject(delivery, false)
    else from.nack(delivery, false, true)
  }
  const consume = async (model: ChannelModel) => {
    const fresh = await model.createChannel()
    watch(model, fresh)
    fresh.on('close', () => {
      if (channel === fresh) channel = undefined
    })
    await fresh.prefetch(prefetch * HELD_PER_HANDLER)
    channel = fresh
    const receive = (delivery: ConsumeMessage | null) => {
      // The broker took the queue away: a new connection declares it again.
      if (!delivery) return renew(model)
      const work = take(delivery, fresh)
        .catch(error => logger.error('a message could not be answered', { error }))
        .finally(() => inHand.delete(work))
      inHand.add(work)
    }
    consumerTag = (await fresh.consume(queue, receive)).consumerTag
  }
  return {
    name: `queue ${queue}`,
    waiting,
    busy: async () => inHand.size > 0 || (await waiting()) > 0,
    start: () => attach(consume),
    async stop() {
      detach(consume)
      const stopping = channel
      if (stopping && consumerTag)
        await stopping.cancel(consumerTag).catch(error => logger.debug('the consumer was already gone', { error }))
      aborted.abort()
      await Promise.all(inHand)
    },
  }
}
