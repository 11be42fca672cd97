import { randomUUID } from 'node:crypto'
import type { ConfirmChannel, Options } from 'amqplib'
import type { Logger } from '../observe'
import { every, type Loop } from '../process'
import { type Message, QUEUE_LOST, type QueueLoss, queuesOf, type Topology } from './bus'
import { type Answer, openConfirms } from './confirms'
import { HAND_BACK_MS } from './handling'
import { type ConnectionOptions, rabbitmqConnection } from './rabbitmq-connection'
import { HANDED_BACK_AT } from './rabbitmq-message'
import { declareTopology, type MissingQueue } from './rabbitmq-topology'

const CONFIRM_TIMEOUT_MS = 10_000
/** A queue that answers nothing for so many times a confirm's time ends the connection: RabbitMQ can lose a message on its way, and then takes none after it. */
const SILENT_TIMEOUTS_MAX = 3
/** A lost queue is announced again and again for a while: other publishers may be connecting again too. */
const ANNOUNCE_MS = 5_000
const ANNOUNCED_FOR_MS = 120_000

interface Loss extends MissingQueue {
  id: string
}

export interface PublisherOptions {
  url: string
  namespace: string
  topology: Topology
  logger: Logger
  stepTimeoutMs?: number | undefined
  handBackMs?: number | undefined
  confirmTimeoutMs?: number | undefined
  /** Called when the topology is declared and messages are taken, on every connection. */
  onDeclared(): void
}

/**
 * The publishing connection. Each bound queue gets a copy of its own, confirmed and `mandatory`: an exchange would call a message taken as soon
 * as one of its queues is there.
 */
export function rabbitmqPublisher(options: PublisherOptions) {
  const { url, namespace, topology, logger, stepTimeoutMs, onDeclared } = options
  const { handBackMs = HAND_BACK_MS, confirmTimeoutMs = CONFIRM_TIMEOUT_MS } = options
  const exchange = `${namespace}.events`
  const queues = queuesOf(topology)
  const confirms = openConfirms(confirmTimeoutMs)
  /** The broker works off a channel in turn: where messages wait that were handed back may have no leader, and must not hold up events. */
  let channels: { events: ConfirmChannel; handBacks: ConfirmChannel } | undefined
  let blocked = false
  /** For each queue that owes an answer, when the first message since its last one was sent. */
  const silentSince = new Map<string, number>()
  let redeclare: () => void = () => undefined
  let renew: () => void = () => undefined
  let lost: Loss[] = []

  const setup: ConnectionOptions['setup'] = async (model, step) => {
    blocked = false
    silentSince.clear()
    renew = () => connection.renew(model)
    model.on('blocked', reason => {
      blocked = true
      silentSince.clear()
      logger.warn('the broker takes no messages', { reason })
    })
    model.on('unblocked', () => {
      blocked = false
    })
    let declaring = false
    const declare = async () => {
      const missing = await declareTopology(model, namespace, topology, step)
      const losses = missing.map(queue => ({ ...queue, id: randomUUID() }))
      lost.push(...losses)
      for (const loss of losses) announceLoss(loss)
    }
    // On the same connection: what is being published goes on.
    redeclare = () => {
      if (declaring) return
      declaring = true
      declare()
        .catch(() => connection.renew(model))
        .finally(() => {
          declaring = false
        })
    }
    await declare()
    const open = async (name: string) => {
      const channel = await step(`open the ${name} channel`, model.createConfirmChannel())
      connection.watch(model, channel)
      // The broker returns before it confirms: the oldest that waits under this key is the one meant, and its confirm comes too late.
      channel.on('return', ({ fields, properties }) => {
        confirms.refuse(keyOf(fields.routingKey, String(properties.messageId)), new Error(`The queue ${fields.routingKey} is gone.`))
        redeclare()
      })
      return channel
    }
    const opened = { events: await open('publishing'), handBacks: await open('handing back') }
    for (const channel of Object.values(opened)) {
      channel.on('close', () => {
        if (channels === opened) channels = undefined
      })
    }
    channels = opened
    for (const loss of lost) announceLoss(loss)
    onDeclared()
  }
  const connection = rabbitmqConnection({ url, name: `${namespace} publisher`, logger, setup, stepTimeoutMs })

  const announce = ({ type, id, body }: Message) => {
    try {
      channels?.events.publish(exchange, type, Buffer.from(body), { messageId: id, type, contentType: 'application/json' })
    } catch (error) {
      logger.debug('an announcement was lost', { type, error })
    }
  }
  /** A queue that had to be made may have held messages that were confirmed: their publisher publishes them again. */
  const announceLoss = ({ id, name, foundAt }: Loss) => {
    const loss: QueueLoss = { queue: name, types: [...(topology[name] ?? [])], found_ms_ago: Math.floor(performance.now() - foundAt) }
    announce({ id, type: QUEUE_LOST, body: JSON.stringify(loss) })
  }
  const announcing: Loop = every(
    'lost queues',
    ANNOUNCE_MS,
    async () => {
      lost = lost.filter(({ foundAt }) => performance.now() < foundAt + ANNOUNCED_FOR_MS)
      for (const loss of lost) announceLoss(loss)
    },
    logger,
  )

  const send = async (
    on: 'events' | 'handBacks',
    message: Message,
    names: readonly string[],
    more: Options.Publish = {},
  ): Promise<void> => {
    const channel = channels?.[on]
    if (!channel) throw new Error('There is no connection to the broker.')
    if (blocked) throw new Error('The broker takes no messages now.')
    const content = Buffer.from(message.body)
    const { id, type } = message
    const properties = { ...more, persistent: true, mandatory: true, messageId: id, type, contentType: 'application/json' }
    const copies = names.map(queue => {
      if (!silentSince.has(queue)) silentSince.set(queue, performance.now())
      const sendCopy = (answer: Answer) =>
        channel.sendToQueue(queue, content, properties, error => {
          silentSince.delete(queue)
          answer(error)
        })
      return confirms.wait(keyOf(queue, id), sendCopy)
    })
    // All are waited for, so that none is left without a listener when another is refused.
    const refused = (await Promise.allSettled(copies)).find(copy => copy.status === 'rejected')
    if (!refused) return
    const isSilent = (queue: string) => performance.now() - (silentSince.get(queue) ?? Infinity) >= SILENT_TIMEOUTS_MAX * confirmTimeoutMs
    const silent = names.find(isSilent)
    if (silent) {
      silentSince.clear()
      logger.warn('the broker answers no message to a queue; connecting again', { queue: silent })
      renew()
    }
    throw refused.reason
  }

  return {
    announce,
    /** Declares the topology again. */
    redeclare: () => redeclare(),
    /** True while a message would be taken. */
    accepts: () => channels !== undefined && !blocked,
    connected: connection.connected,
    async start() {
      await connection.start()
      await announcing.start?.()
    },
    async stop() {
      await announcing.stop?.()
      channels = undefined
      await connection.stop()
    },
    async publish(message: Message): Promise<void> {
      const bound = queues.get(message.type)
      if (!bound) throw new Error(`No queue takes ${message.type}.`)
      await send(
        'events',
        message,
        bound.map(name => `${namespace}.${name}`),
      )
    },
    /** Puts a message where it waits for a while and then comes to its queue again. */
    handBack: (queue: string, message: Message): Promise<void> =>
      send('handBacks', message, [`${namespace}.later.${queue}`], {
        expiration: String(handBackMs),
        headers: { [HANDED_BACK_AT]: message.handedBackAt ?? Date.now() },
      }),
  }
}

const keyOf = (queue: string, messageId: string) => `${queue} ${messageId}`
