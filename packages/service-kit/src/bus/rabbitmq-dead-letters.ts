import type { ChannelModel, ConfirmChannel } from 'amqplib'
import type { DeadLetters, Message } from './bus'
import { toMessage } from './rabbitmq-message'

export interface DeadLetterOptions {
  queue: string
  dead: string
  /** The connection, while there is one. */
  model(): ChannelModel | undefined
}

/**
 * Reads a dead-letter queue by moving each message to its end, or back into its queue: confirmed there before it is acknowledged here. What the
 * process dies between is there twice, which consumers are used to; and no message is delivered so often that the broker gives it up.
 */
export function rabbitmqDeadLetters({ queue, dead, model }: DeadLetterOptions): DeadLetters {
  const withChannel = async <T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> => {
    const connection = model()
    if (!connection) throw new Error('There is no connection to the broker.')
    const channel = await connection.createConfirmChannel()
    channel.on('error', () => undefined)
    try {
      return await work(channel)
    } finally {
      await channel.close().catch(() => undefined)
    }
  }
  /** Sees each message once and moves it to its `destination`. */
  const move = (limit: number, destination: (message: Message) => string): Promise<Message[]> =>
    withChannel(async channel => {
      const seen: Message[] = []
      const { messageCount } = await channel.checkQueue(dead)
      for (let left = Math.min(messageCount, limit); left > 0; left--) {
        const got = await channel.get(dead, { noAck: false })
        if (!got) break
        const message = toMessage(got)
        const { messageId, type, contentType } = got.properties
        channel.sendToQueue(destination(message), got.content, { persistent: true, mandatory: true, messageId, type, contentType })
        await channel.waitForConfirms()
        channel.ack(got)
        seen.push(message)
      }
      return seen
    })
  return {
    count: () => withChannel(async channel => (await channel.checkQueue(dead)).messageCount),
    list: limit => move(limit, () => dead),
    async retry(ids) {
      let retried = 0
      await move(Number.MAX_SAFE_INTEGER, ({ id }) => {
        const isChosen = ids === undefined || ids.includes(id)
        if (isChosen) retried++
        return isChosen ? queue : dead
      })
      return retried
    },
  }
}
