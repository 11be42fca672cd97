import { setTimeout as pause } from 'node:timers/promises'
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import type { Logger } from '../observe/logger'
import type { Part } from '../process/service'
import type { ConsumeOptions, DeadLetters, Handler, Message, QueuePart, Topology } from './bus'
import { createHandling, createRetryLog, handle, TAKEN_PER_HANDLER } from './handling'
import { rabbitmqConnection, type Step } from './rabbitmq-connection'
import { rabbitmqDeadLetters } from './rabbitmq-dead-letters'
import { toMessage } from './rabbitmq-message'
import { announcements, declareTopology, messagesIn } from './rabbitmq-topology'

const HANDED_BACK_AGAIN_MS = 500

/** What is set up anew on every connection: a consumer or a listener. */
type Attachment = (model: ChannelModel, step: Step) => Promise<void>

interface Attaching {
  attach(attachment: Attachment): Promise<void>
  detach(attachment: Attachment): void
  watch(model: ChannelModel, channel: Channel): void
  renew(model: ChannelModel): void
  declare(queue: string, model: ChannelModel, step: Step): Promise<void>
  handBack: ConsumersOptions['handBack']
  logger: Logger
}

export interface ConsumersOptions {
  url: string
  namespace: string
  topology: Topology
  logger: Logger
  stepTimeoutMs?: number | undefined
  handBack(queue: string, message: Message): Promise<void>
}

/** The consuming connection: under a memory or disk alarm the broker reads nothing from publishers, and acknowledgements must still arrive. */
export function rabbitmqConsumers({ url, namespace, topology, logger, stepTimeoutMs, handBack }: ConsumersOptions) {
  const attachments = new Set<Attachment>()
  let current: { model: ChannelModel; attach(attachment: Attachment): Promise<void> } | undefined
  const setup = async (model: ChannelModel, step: Step) => {
    const attached = new Set<Attachment>()
    const attach = async (attachment: Attachment) => {
      if (attached.has(attachment)) return
      attached.add(attachment)
      await attachment(model, step)
    }
    current = { model, attach }
    model.on('close', () => {
      if (current?.model === model) current = undefined
    })
    // Concurrent, so that a queue without a leader holds up no other.
    await Promise.all([...attachments].map(attach))
  }
  const connection = rabbitmqConnection({ url, name: `${namespace} consumers`, logger, setup, stepTimeoutMs })
  const attaching: Attaching = {
    logger,
    declare: (queue, model, step) => declareTopology(model, namespace, { [queue]: topology[queue] ?? [] }, step),
    handBack,
    watch: connection.watch,
    renew: connection.renew,
    async attach(attachment) {
      attachments.add(attachment)
      if (!current) return
      const { model, attach } = current
      await attach(attachment).catch(() => connection.renew(model))
    },
    detach: attachment => void attachments.delete(attachment),
  }
  const exchange = announcements(namespace)
  return {
    connected: connection.connected,
    start: connection.start,
    stop: connection.stop,
    consume(queue: string, handler: Handler, options: ConsumeOptions): QueuePart {
      const names = { name: queue, queue: `${namespace}.${queue}`, later: `${namespace}.later.${queue}` }
      return rabbitmqConsumer({ ...names, handler, ...options, ...attaching })
    },
    deadLetters: (queue: string): DeadLetters =>
      rabbitmqDeadLetters({ queue: `${namespace}.${queue}`, dead: `${namespace}.dead.${queue}`, model: () => current?.model }),
    listen: (types: readonly string[], handler: (message: Message) => void): Part =>
      rabbitmqListener({ exchange, types, handler, ...attaching }),
  }
}

interface ListenerOptions extends Attaching {
  exchange: string
  types: readonly string[]
  handler: (message: Message) => void
}

function rabbitmqListener({ exchange, types, handler, attach, detach, watch, logger }: ListenerOptions): Part {
  let stopListening: (() => Promise<unknown>) | undefined
  const listen: Attachment = async (model, step) => {
    const channel = await step('open a listening channel', model.createChannel())
    watch(model, channel)
    await step('declare the exchange', channel.assertExchange(exchange, 'topic', { durable: true }))
    const transient = { exclusive: true, autoDelete: true, durable: false }
    const { queue } = await step('declare a listening queue', channel.assertQueue('', transient))
    for (const type of types) await step(`listen for ${type}`, channel.bindQueue(queue, exchange, type))
    const receive = (delivery: ConsumeMessage | null) => delivery && handler(toMessage(delivery))
    const { consumerTag } = await step('listen', channel.consume(queue, receive, { noAck: true }))
    stopListening = () => channel.cancel(consumerTag)
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

interface ConsumerOptions extends Attaching, ConsumeOptions {
  /** The queue's name in the topology, and at the broker; and where its messages wait that were handed back. */
  name: string
  queue: string
  later: string
  handler: Handler
}

function rabbitmqConsumer(options: ConsumerOptions): QueuePart {
  const {
    name,
    queue,
    later,
    handler,
    prefetch = 64,
    onTry,
    patienceMs,
    onDead,
    attach,
    detach,
    watch,
    renew,
    declare,
    handBack,
    logger,
  } = options
  const aborted = new AbortController()
  const retryLog = createRetryLog(logger)
  const handling = createHandling(handler, prefetch, { signal: aborted.signal, logger, onTry, retryLog, patienceMs, onDead })
  const inHand = new Set<Promise<void>>()
  let channel: Channel | undefined
  let connected: ChannelModel | undefined
  let consumerTag: string | undefined

  const fresh = async () => (channel ? (await channel.checkQueue(queue)).messageCount : 0)
  const handedBack = async () => (channel && connected ? ((await messagesIn(connected, later)) ?? 0) : 0)
  const take = async (delivery: ConsumeMessage, from: Channel) => {
    const message = toMessage(delivery)
    let outcome = await handle(message, handling)
    while (outcome === 'later') {
      // It is in two places for a moment; the inbox drops the second. While the broker takes nothing it is kept in hand: each return to the front of its
      // queue would count as a delivery, of which there are few.
      const isHandedBack = await handBack(name, message).then(
        () => true,
        () => false,
      )
      if (isHandedBack) outcome = 'done'
      else if (from !== channel || !(await pause(HANDED_BACK_AGAIN_MS, true, { signal: aborted.signal }).catch(() => false)))
        outcome = 'stopped'
    }
    // An answer belongs to the channel that delivered; on a newer one it would be a protocol error, and the broker delivers again anyway.
    if (from !== channel) return
    if (outcome === 'done') from.ack(delivery)
    else if (outcome === 'dead') from.reject(delivery, false)
    else from.nack(delivery, false, true)
  }
  const consume: Attachment = async (model, step) => {
    if ((await step(`look for the queue ${queue}`, messagesIn(model, queue))) === null) await declare(name, model, step)
    const opened = await step('open a consuming channel', model.createChannel())
    watch(model, opened)
    opened.on('close', () => {
      if (channel === opened) channel = undefined
    })
    await step('set the prefetch', opened.prefetch(prefetch * TAKEN_PER_HANDLER))
    channel = opened
    connected = model
    const receive = (delivery: ConsumeMessage | null) => {
      if (!delivery) {
        logger.error('the broker took a queue away', { queue })
        return renew(model)
      }
      const work = take(delivery, opened)
        .catch(error => logger.error('a message could not be answered', { error }))
        .finally(() => inHand.delete(work))
      inHand.add(work)
    }
    consumerTag = (await step(`consume ${queue}`, opened.consume(queue, receive))).consumerTag
  }
  return {
    name: `queue ${queue}`,
    waiting: async () => (await fresh()) + (await handedBack()),
    busy: async () => inHand.size > 0 || (await fresh()) > 0 || (await handedBack()) > 0,
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
