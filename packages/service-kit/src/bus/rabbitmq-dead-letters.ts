import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelModel, ConfirmChannel, GetMessage } from 'amqplib'
import type { DeadLetters, Message } from './bus'
import { toMessage } from './rabbitmq-message'

/** From RabbitMQ 4.0 on a queue drops what was returned to it more than 20 times; before, it keeps it for ever. */
const RETURNS_MAX = 10
const hasLimit = ({ connection }: ChannelModel) => Number.parseInt(String(connection.serverProperties.version), 10) >= 4

/** Of more that are returned at once the broker keeps no order. */
const RETURNED_AT_ONCE = 16
/** It answers nothing to a return, and who looks next must see the letters. Another that looks meanwhile may have them: so long at most. */
const RETURN_WAIT_MS = 2_000
const RETURN_POLL_MS = 2

export interface DeadLetterOptions {
  queue: string
  dead: string
  /** The connection, while there is one. */
  model(): ChannelModel | undefined
  /** A letter that was returned so often is put into its queue anew. */
  returnsMax?: number
}

/**
 * Reads a dead-letter queue by taking all of it, and returning what was not chosen: the broker puts what is returned behind what was not taken, so only so its order
 * stays. A process that dies meanwhile returns what it has taken. What goes into another queue, or into this one anew, is confirmed there before it is
 * acknowledged here: when the process dies between, it is there twice, which consumers are used to.
 */
export function rabbitmqDeadLetters({ queue, dead, model, returnsMax }: DeadLetterOptions): DeadLetters {
  const withChannel = async <T>(work: (channel: ConfirmChannel, returns: number) => Promise<T>): Promise<T> => {
    const connection = model()
    if (!connection) throw new Error('There is no connection to the broker.')
    const channel = await connection.createConfirmChannel()
    channel.on('error', () => undefined)
    try {
      return await work(channel, returnsMax ?? (hasLimit(connection) ? RETURNS_MAX : Number.POSITIVE_INFINITY))
    } finally {
      await channel.close().catch(() => undefined)
    }
  }
  /** Reads each letter once, puts those with a `destination` there, removes those where that is null, and returns the others. */
  const read = (destination: (message: Message) => string | null | undefined): Promise<void> =>
    withChannel(async (channel, returns) => {
      const { messageCount } = await channel.checkQueue(dead)
      const kept: GetMessage[] = []
      for (let left = messageCount; left > 0; left--) {
        const got = await channel.get(dead, { noAck: false })
        if (!got) break
        const isWorn = Number(got.properties.headers?.['x-delivery-count'] ?? 0) >= returns
        const chosen = destination(toMessage(got))
        const target = chosen === undefined && isWorn ? dead : chosen
        if (target === undefined) {
          kept.push(got)
          continue
        }
        if (target !== null) await send(channel, target, got)
        channel.ack(got)
      }
      await giveBack(channel, dead, kept)
    })
  /** Settles the chosen letters. Answers how many there were. */
  const settle = async (isChosen: (message: Message) => boolean, target: string | null): Promise<number> => {
    let chosen = 0
    await read(message => {
      if (!isChosen(message)) return undefined
      chosen++
      return target
    })
    return chosen
  }
  return {
    count: () => withChannel(async channel => (await channel.checkQueue(dead)).messageCount),
    async list(limit) {
      const oldest: Message[] = []
      await read(message => {
        if (oldest.length < limit) oldest.push(message)
        return undefined
      })
      return oldest
    },
    retry: ids => settle(({ id }) => ids === undefined || ids.includes(id), queue),
    discard: ids => settle(({ id }) => ids.includes(id), null),
  }
}

async function send(channel: ConfirmChannel, queue: string, { content, properties }: GetMessage): Promise<void> {
  const { messageId, type, contentType } = properties
  channel.sendToQueue(queue, content, { persistent: true, mandatory: true, messageId, type, contentType })
  await channel.waitForConfirms()
}

async function giveBack(channel: ConfirmChannel, dead: string, letters: readonly GetMessage[]): Promise<void> {
  const deadline = performance.now() + RETURN_WAIT_MS
  for (let first = 0; first < letters.length; first += RETURNED_AT_ONCE) {
    const returned = letters.slice(first, first + RETURNED_AT_ONCE)
    for (const letter of returned) channel.nack(letter, false, true)
    while ((await channel.checkQueue(dead)).messageCount < first + returned.length && performance.now() < deadline)
      await pause(RETURN_POLL_MS)
  }
}
