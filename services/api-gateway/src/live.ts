import { ApiError, parseEvent } from '@ponte/contracts'
import type { Logger, Message, Part } from '@ponte/service-kit'
import type { Request, Response } from 'express'
import { addressBucket } from './rate-limit'

export interface LiveOptions {
  /** The payer's view of an order as JSON text. Throws ApiError when there is none. */
  view(orderId: string): Promise<string>
  streamsMax: number
  streamsPerAddressMax: number
  logger: Logger
}

interface Watched {
  streams: Set<Response>
  /** What the streams were last told. */
  told: string
  /** Set while the view is fetched; `again` when the order changed meanwhile. */
  fetching: boolean
  again: boolean
}

export interface Live extends Part {
  /** Opens a stream of an order's view: the present one at once, and each that differs from the one before. */
  open(orderId: string, req: Request, res: Response): Promise<void>
  heard(message: Message): void
  /** Looks at every watched order again, and writes to every stream. */
  beat(): Promise<void>
  count(): number
}

/** `order.changed` may be lost, so each watched order is looked at again this often; the same turn keeps proxies from closing the stream. */
export const HEARTBEAT_MS = 15_000
const RECONNECT_MS = 2_000
const UNSENT_BYTES_MAX = 256 * 1024

/** Live checkout pages as server-sent events. One fetch per changed order, however many payers look at it. */
export function livePages(options: LiveOptions): Live {
  const watched = new Map<string, Watched>()
  const perAddress = new Map<string, number>()
  let open = 0

  const refresh = async (orderId: string, order: Watched) => {
    if (order.fetching) {
      order.again = true
      return
    }
    order.fetching = true
    try {
      do {
        order.again = false
        const view = await options.view(orderId)
        if (view !== order.told) for (const stream of order.streams) send(stream, view)
        order.told = view
      } while (order.again)
    } catch (error) {
      options.logger.warn('a live page could not be refreshed; the next turn tries again', { order_id: orderId, error })
    } finally {
      order.fetching = false
    }
  }
  const admit = (address: string) => {
    const ofAddress = perAddress.get(address) ?? 0
    if (open >= options.streamsMax || ofAddress >= options.streamsPerAddressMax) {
      throw new ApiError('rate_limited', 'Too many live pages are open; close some, or read the checkout without /stream.', {
        retryAfterS: 10,
      })
    }
    open += 1
    perAddress.set(address, ofAddress + 1)
    return () => {
      open -= 1
      const left = (perAddress.get(address) ?? 1) - 1
      if (left > 0) perAddress.set(address, left)
      else perAddress.delete(address)
    }
  }
  const join = (orderId: string, view: string, res: Response) => {
    const order = watched.get(orderId) ?? { streams: new Set(), told: view, fetching: false, again: false }
    watched.set(orderId, order)
    order.streams.add(res)
    res.on('close', () => {
      order.streams.delete(res)
      if (order.streams.size === 0 && watched.get(orderId) === order) watched.delete(orderId)
    })
    return order
  }
  return {
    name: 'live pages',
    count: () => open,
    async open(orderId, req, res) {
      const release = admit(addressBucket(req.ip ?? ''))
      res.on('close', release)
      const view = await options.view(orderId)
      if (res.destroyed) return
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
      res.write(`retry: ${RECONNECT_MS}\n\n`)
      if (req.method === 'HEAD') return void res.end()
      send(res, view)
      const order = join(orderId, view, res)
      // What changed between the look and the joining was announced to nobody here.
      void refresh(orderId, order)
    },
    heard(message) {
      // Most changes are of orders that nobody looks at here.
      if (watched.size === 0) return
      const orderId = orderIdOf(message, options.logger)
      const order = orderId && watched.get(orderId)
      if (order) void refresh(orderId, order)
    },
    async beat() {
      for (const { streams } of watched.values()) for (const stream of streams) stream.write(': still here\n\n')
      await Promise.all([...watched].map(([orderId, order]) => refresh(orderId, order)))
    },
    async stop() {
      for (const { streams } of watched.values()) for (const stream of streams) stream.end()
    },
  }
}

/** A message that cannot be read must not fail whoever announced it. */
function orderIdOf(message: Message, logger: Logger): string | undefined {
  try {
    const event = parseEvent(JSON.parse(message.body))
    return event.type === 'order.changed' ? event.data.order_id : undefined
  } catch (error) {
    logger.warn('an announcement cannot be read', { message_id: message.id, error })
    return undefined
  }
}

function send(stream: Response, view: string): void {
  // A reader that does not read would fill our memory; it reconnects and gets the present view.
  if (stream.writableLength > UNSENT_BYTES_MAX) return void stream.destroy()
  stream.write(`event: checkout\ndata: ${view}\n\n`)
}
