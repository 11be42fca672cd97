import type { ConfirmChannel, Options } from 'amqplib'
import type { Logger } from '../observe/logger'
import { type Message, MessageTooLargeError, type Topology } from './bus'
import { type Answer, openConfirms } from './confirms'
import { HAND_BACK_MS, handBackWait } from './handling'
import { type ConnectionOptions, rabbitmqConnection } from './rabbitmq-connection'
import { HANDED_BACK_AT, MERCHANT_ID } from './rabbitmq-message'
import { announcements, declareTopology } from './rabbitmq-topology'

const CONFIRM_TIMEOUT_MS = 10_000
/** Where nothing is answered for so many times a confirm's time, the connection ends: RabbitMQ can lose a message on its way to a queue, and then takes none after it. */
const SILENT_TIMEOUTS_MAX = 3
const LARGER_THAN_MAX = /larger than (?:configured )?max size (\d+)/

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
 * The publishing connection. Events go to the exchange by their type, and the broker confirms when each queue that is bound to it has taken them: who reads a
 * type is a binding of the reader's, so that a reader of a newer release gets what this one publishes. A type that no queue is bound to is refused.
 */
export function rabbitmqPublisher(options: PublisherOptions) {
  const { url, namespace, topology, logger, stepTimeoutMs, onDeclared } = options
  const { handBackMs = HAND_BACK_MS, confirmTimeoutMs = CONFIRM_TIMEOUT_MS } = options
  const exchange = `${namespace}.events`
  const confirms = openConfirms(confirmTimeoutMs)
  /** The broker works off a channel in turn: where messages wait that were handed back may have no leader, and must not hold up events. */
  let channels: { events: ConfirmChannel; handBacks: ConfirmChannel } | undefined
  let blocked = false
  /** As the broker has named it once: what is larger ends the channel, and with it every publication that is not answered yet. */
  let bytesMax = Number.POSITIVE_INFINITY
  /** For each routing key that owes an answer, when the first message since its last one was sent. */
  const silentSince = new Map<string, number>()
  let renew: () => void = () => undefined

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
    await declareTopology(model, namespace, topology, step)
    const open = async (name: string) => {
      const channel = await step(`open the ${name} channel`, model.createConfirmChannel())
      connection.watch(model, channel)
      channel.on('error', ({ message }: Error) => {
        const max = LARGER_THAN_MAX.exec(message)?.[1]
        if (max !== undefined) bytesMax = Number(max)
      })
      // The broker returns before it confirms: the oldest that waits under this key is the one meant, and its confirm comes too late.
      channel.on('return', ({ fields, properties }) => {
        confirms.refuse(keyOf(fields.routingKey, String(properties.messageId)), new Error(`No queue is bound to ${fields.routingKey}.`))
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
    // The queue where it would wait is gone, and without it the message would come again at once; each connection declares what is missing.
    opened.handBacks.on('return', () => renew())
    onDeclared()
  }
  const connection = rabbitmqConnection({ url, name: `${namespace} publisher`, logger, setup, stepTimeoutMs })

  const announce = ({ type, id, body }: Message) => {
    // A broker under an alarm takes none, and they would pile up in memory.
    if (blocked) return
    try {
      channels?.events.publish(announcements(namespace), type, Buffer.from(body), { messageId: id, type, contentType: 'application/json' })
    } catch (error) {
      logger.debug('an announcement was lost', { type, error })
    }
  }

  const send = async (on: 'events' | 'handBacks', to: { exchange: string; key: string }, message: Message, more: Options.Publish = {}) => {
    const channel = channels?.[on]
    if (!channel) throw new Error('There is no connection to the broker.')
    if (blocked) throw new Error('The broker takes no messages now.')
    const { id, type, merchantId } = message
    const content = Buffer.from(message.body)
    if (content.length > bytesMax) throw new MessageTooLargeError(content.length, bytesMax)
    const headers = { ...more.headers, ...(merchantId ? { [MERCHANT_ID]: merchantId } : {}) }
    const properties = { ...more, headers, persistent: true, mandatory: true, messageId: id, type, contentType: 'application/json' }
    if (!silentSince.has(to.key)) silentSince.set(to.key, performance.now())
    const publish = (answer: Answer) =>
      channel.publish(to.exchange, to.key, content, properties, error => {
        silentSince.delete(to.key)
        answer(error)
      })
    try {
      await confirms.wait(keyOf(to.key, id), publish)
    } catch (error) {
      if (performance.now() - (silentSince.get(to.key) ?? Infinity) >= SILENT_TIMEOUTS_MAX * confirmTimeoutMs) {
        silentSince.clear()
        logger.warn('the broker leaves messages unanswered; connecting again', { routing_key: to.key })
        renew()
      }
      throw error
    }
  }

  return {
    announce,
    accepts: () => channels !== undefined && !blocked,
    connected: connection.connected,
    start: connection.start,
    async stop() {
      channels = undefined
      await connection.stop()
    },
    publish: (message: Message): Promise<void> => send('events', { exchange, key: message.type }, message),
    handBack: (queue: string, message: Message): Promise<void> =>
      send('handBacks', { exchange: '', key: `${namespace}.later.${queue}` }, message, {
        expiration: String(handBackWait(message, handBackMs)),
        headers: { [HANDED_BACK_AT]: message.handedBackAt ?? Date.now() },
      }),
  }
}

const keyOf = (routingKey: string, messageId: string) => `${routingKey} ${messageId}`
