import { Duplex } from 'node:stream'
import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib'
import type { Logger } from '../observe/logger'
import { withTimeout } from '../with-timeout'

const CONNECT_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 5_000
const STEP_TIMEOUT_MS = 10_000
const HEARTBEAT_S = 15

/** Waits for one step of the set-up, within its deadline. */
export type Step = <T>(name: string, work: Promise<T>) => Promise<T>

export interface ConnectionOptions {
  url: string
  /** As the broker and the log name it. */
  name: string
  logger: Logger
  /** Runs on every new connection. */
  setup(model: ChannelModel, step: Step): Promise<void>
  /** How long the broker may take for one step of the set-up. */
  stepTimeoutMs?: number | undefined
}

export interface RabbitmqConnection {
  start(): Promise<void>
  stop(): Promise<void>
  /** True while there is a connection whose set-up is complete. */
  connected(): boolean
  /** Gives up this connection, if it is still the current one; recovery makes another. */
  renew(model: ChannelModel): void
  /** Renews when this channel closes alone: the connection would look healthy without it. */
  watch(model: ChannelModel, channel: Channel): void
}

/** One connection that amqplib's recovery makes anew for ever. A set-up that the broker does not answer ends at its deadline, and is logged. */
export function rabbitmqConnection({ url, name, logger, setup, stepTimeoutMs = STEP_TIMEOUT_MS }: ConnectionOptions): RabbitmqConnection {
  let recovering: RecoveringChannelModel | undefined
  let current: ChannelModel | undefined
  let complete = false
  let stopped = false

  const setUp = async (model: ChannelModel) => {
    // Recovery listens only after the set-up; an error without a listener would end the process.
    model.on('error', error => logger.warn('the broker connection failed', { connection: name, error }))
    current = model
    let closed = false
    model.on('close', () => {
      closed = true
    })
    const step: Step = async (what, work) => {
      try {
        return await withTimeout(stepTimeoutMs, work, what)
      } catch (error) {
        logger.warn('the broker did not complete a step of the set-up; connecting again', { connection: name, step: what, error })
        throw error
      }
    }
    try {
      await setup(model, step)
      // Recovery listens from here on; a connection that is closed or given up already would be taken for a good one.
      if (closed || streamOf(model)?.destroyed) throw new Error('The connection was closed during its set-up.')
      complete = true
    } catch (error) {
      // Closing in order could wait for the same answer that did not come.
      await destroy(model)
      throw error
    }
  }
  const renew = (model: ChannelModel) => {
    if (current !== model) return
    complete = false
    void destroy(model)
  }
  return {
    renew,
    connected: () => complete,
    watch(model, channel) {
      channel.on('error', error => logger.warn('a broker channel failed', { connection: name, error }))
      channel.on('close', () => renew(model))
    },
    async start() {
      const address = new URL(url)
      if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', String(HEARTBEAT_S))
      recovering = await connect(address.href, {
        clientProperties: { connection_name: name },
        timeout: CONNECT_TIMEOUT_MS,
        // An acknowledgement is followed by a publication: without this the second waits 40 ms for the other side's answer to the first.
        noDelay: true,
        recovery: { initialDelay: 100, maxDelay: 5_000, waitForConnect: false, setup: setUp },
      })
      if (stopped) return recovering.close()
      recovering.on('error', error => logger.debug('the broker connection reported an error', { connection: name, error }))
      recovering.on('connect-failed', error => logger.warn('the broker does not answer; trying again', { connection: name, error }))
      recovering.on('disconnect', error => {
        complete = false
        current = undefined
        logger.warn('the broker connection was lost; connecting again', { connection: name, error })
      })
    },
    async stop() {
      stopped = true
      complete = false
      const closing = recovering?.close()
      if (closing) await withTimeout(CLOSE_TIMEOUT_MS, closing, 'closing the connection').catch(() => current && destroy(current))
    },
  }
}

/** Cuts a connection whose broker may not answer a close. Resolves when amqplib knows: a close that it begins before would never end. */
async function destroy(model: ChannelModel): Promise<void> {
  const stream = streamOf(model)
  if (!stream || stream.closed) return
  const closed = new Promise(resolve => stream.once('close', resolve))
  stream.destroy(new Error('The connection is given up.'))
  await closed
}

function streamOf(model: ChannelModel): Duplex | undefined {
  const stream: unknown = Reflect.get(model.connection, 'stream')
  return stream instanceof Duplex ? stream : undefined
}
