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
  /** Sees each message once and moves it to its `destination`, or removes it where that is null. */
  const move = (limit: number, destination: (message: Message) => string | null): Promise<Message[]> =>
    withChannel(async channel => {
      const seen: Message[] = []
      const { messageCount } = await channel.checkQueue(dead)
      for (let left = Math.min(messageCount, limit); left > 0; left--) {
        const got = await channel.get(dead, { noAck: false })
        if (!got) break
        const message = toMessage(got)
        const { messageId, type, contentType } = got.properties
        const target = destination(message)
        if (target !== null) {
          channel.sendToQueue(target, got.content, { persistent: true, mandatory: true, messageId, type, contentType })
          await channel.waitForConfirms()
        }
        channel.ack(got)
        seen.push(message)
      }
      return seen
    })
  /** Moves the chosen ones; the others stay. Answers how many were chosen. */
  const take = async (isChosen: (message: Message) => boolean, destination: string | null): Promise<number> => {
    let taken = 0
    await move(Number.MAX_SAFE_INTEGER, message => {
      if (!isChosen(message)) return dead
      taken++
      return destination
    })
    return taken
  }
  return {
    count: () => withChannel(async channel => (await channel.checkQueue(dead)).messageCount),
    list: limit => move(limit, () => dead),
    retry: ids => take(({ id }) => ids === undefined || ids.includes(id), queue),
    discard: ids => take(({ id }) => ids.includes(id), null),
  }
}
