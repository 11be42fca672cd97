import { ApiError, parseEvent } from '@ponte/contracts'
import type { Logger, Message, Part } from '@ponte/service-kit'
import type { Request, Response } from 'express'
import { addressBucket } from '../limits'

export interface LiveCheckoutOptions {
  /** The payer's view of an order as JSON text. Throws ApiError when there is none. */
  view(orderId: string): Promise<string>
  streamsMax: number
  streamsPerAddressMax: number
  logger: Logger
}

interface Watched {
  streams: Set<Response>
  /** The view that the streams have. */
  sent: string
  /** Set while the view is fetched; `again` when the order changed meanwhile. */
  fetching: boolean
  again: boolean
}

export interface LiveCheckout extends Part {
  /** Opens a stream of an order's view: the present one at once, and each that differs from the one before. */
  open(orderId: string, req: Request, res: Response): Promise<void>
  /** Refreshes the order that `order.changed` names. */
  notify(message: Message): void
  /** Refreshes every watched order, and writes to every stream. */
  heartbeat(): Promise<void>
  count(): number
}

/** `order.changed` may be lost, so each watched order is refreshed this often; the same turn keeps proxies from closing the stream. */
export const HEARTBEAT_MS = 15_000
const RECONNECT_MS = 2_000
const UNSENT_BYTES_MAX = 256 * 1024

/** Live checkout pages as server-sent events. One fetch per changed order, however many payers look at it. */
export function liveCheckout(options: LiveCheckoutOptions): LiveCheckout {
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
        if (view !== order.sent) for (const stream of order.streams) send(stream, view)
        order.sent = view
      } while (order.again)
    } catch (error) {
      options.logger.warn('refreshing a live checkout failed; the next heartbeat tries again', { order_id: orderId, error })
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
    const order = watched.get(orderId) ?? { streams: new Set(), sent: view, fetching: false, again: false }
    watched.set(orderId, order)
    order.streams.add(res)
    res.on('close', () => {
      order.streams.delete(res)
      if (order.streams.size === 0 && watched.get(orderId) === order) watched.delete(orderId)
    })
    return order
  }
  return {
    name: 'live checkout',
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
      // A change between the read and the registration was not announced to this stream.
      void refresh(orderId, order)
    },
    notify(message) {
      // Most changes are of orders without a stream here.
      if (watched.size === 0) return
      const orderId = orderIdOf(message, options.logger)
      const order = orderId && watched.get(orderId)
      if (order) void refresh(orderId, order)
    },
    async heartbeat() {
      for (const { streams } of watched.values()) for (const stream of streams) stream.write(': still here\n\n')
      await Promise.all([...watched].map(([orderId, order]) => refresh(orderId, order)))
    },
    async stop() {
      for (const { streams } of watched.values()) for (const stream of streams) stream.end()
    },
  }
}

/** A malformed message must not fail its sender. */
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
