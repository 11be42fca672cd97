import { setImmediate } from 'node:timers/promises'
import { ApiError, parseEvent } from '@ponte/contracts'
import type { Logger, Message, Part } from '@ponte/service-kit'
import type { Request, Response } from 'express'
import { addressBucket } from '../limits/address-bucket'
import { admissions } from './admissions'

/** A payer's view of an order as JSON text, and what decides about its streams. */
export interface LiveView {
  merchantId: string
  text: string
  /** Nothing more is expected to happen to it. */
  isFinal: boolean
}

export interface LiveCheckoutOptions {
  /** The payers' views of these orders, of at most `REFRESHED_AT_ONCE`; those that are there. */
  views(orderIds: readonly string[]): Promise<ReadonlyMap<string, LiveView>>
  streamsMax: number
  streamsPerAddressMax: number
  streamsPerMerchantMax: number
  logger: Logger
}

interface Watched {
  streams: Set<Response>
  sent: LiveView
  /** Set while the view is fetched; `again` when the order changed meanwhile. */
  fetching: boolean
  again: boolean
  /** Heartbeats since its view was final. */
  finalBeats: number
}

export interface LiveCheckout extends Part {
  /** Opens a stream of an order's view: the present one at once, and each that differs from the one before. */
  open(orderId: string, req: Request, res: Response): Promise<void>
  notify(message: Message): void
  /** Refreshes every watched order that is not final, writes to every stream, and ends those of orders that have been final for a while. */
  heartbeat(): Promise<void>
  count(): number
}

/** `order.changed` may be lost, so each watched order is refreshed this often; the same turn keeps proxies from closing the stream. */
export const HEARTBEAT_MS = 15_000
/** Orders of one question: requests wait in gateway and owner behind what is done for so many. */
export const REFRESHED_AT_ONCE = 25
const RECONNECT_MS = 2_000
const UNSENT_BYTES_MAX = 256 * 1024
/** A fact that follows a payment at once, such as its settlement, is still shown. */
const FINAL_BEATS = 2
/** The last event of a stream. A browser that opens it again names it, and is answered 204, after which it stays closed. */
const END = 'end'

/** Live checkout pages as server-sent events. One question per changed order, and one per heartbeat and many orders, however many payers look at them. */
export function liveCheckout(options: LiveCheckoutOptions): LiveCheckout {
  const watched = new Map<string, Watched>()
  const admitted = admissions(options)

  const show = (order: Watched, view: LiveView) => {
    if (view.text !== order.sent.text) for (const stream of order.streams) send(stream, view.text)
    order.sent = view
  }
  const refresh = async (orderId: string, order: Watched) => {
    if (order.fetching) {
      order.again = true
      return
    }
    order.fetching = true
    try {
      do {
        order.again = false
        const view = (await options.views([orderId])).get(orderId)
        if (view) show(order, view)
      } while (order.again)
    } catch (error) {
      options.logger.warn('refreshing a live checkout failed; the next heartbeat tries again', { order_id: orderId, error })
    } finally {
      order.fetching = false
    }
  }
  const leave = (orderId: string, order: Watched, stream: Response) => {
    order.streams.delete(stream)
    if (order.streams.size === 0 && watched.get(orderId) === order) watched.delete(orderId)
  }
  /** Writes to the streams of an order, or ends them; answers whether it is to be asked about. */
  const beat = (orderId: string, order: Watched): boolean => {
    order.finalBeats = order.sent.isFinal ? order.finalBeats + 1 : 0
    const isOver = order.finalBeats > FINAL_BEATS
    for (const stream of order.streams) {
      if (!isOver) stream.write(': still here\n\n')
      else {
        // Its client may take it later or never: nothing may be written behind its end.
        leave(orderId, order, stream)
        stream.end(`id: ${END}\nevent: ${END}\ndata: {}\n\n`)
      }
    }
    return !order.sent.isFinal
  }
  const refreshSome = async (orderIds: readonly string[]) => {
    try {
      for (const [orderId, view] of await options.views(orderIds)) {
        const order = watched.get(orderId)
        // A question of its own that was sent meanwhile has the newer answer.
        if (order && !order.fetching) show(order, view)
      }
    } catch (error) {
      options.logger.warn('refreshing live checkouts failed; the next heartbeat tries again', { orders: orderIds.length, error })
    }
  }
  const join = (orderId: string, view: LiveView, res: Response) => {
    const order = watched.get(orderId) ?? { streams: new Set(), sent: view, fetching: false, again: false, finalBeats: 0 }
    watched.set(orderId, order)
    order.streams.add(res)
    res.on('close', () => leave(orderId, order, res))
    return order
  }
  return {
    name: 'live checkout',
    count: admitted.count,
    async open(orderId, req, res) {
      if (req.get('last-event-id') === END) return void res.status(204).end()
      // A place is given back by an event that has passed.
      if (res.closed) return
      res.on('close', admitted.address(addressBucket(req.ip ?? '')))
      const view = (await options.views([orderId])).get(orderId)
      if (!view) throw new ApiError('not_found', 'There is no such order; check the link.')
      if (res.destroyed) return
      res.on('close', admitted.merchant(view.merchantId))
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
      res.write(`retry: ${RECONNECT_MS}\n\n`)
      if (req.method === 'HEAD') return void res.end()
      send(res, view.text)
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
      const orderIds = [...watched.keys()]
      // One question after the other: pages wait for each other, and not requests for pages.
      for (let first = 0; first < orderIds.length; first += REFRESHED_AT_ONCE) {
        const open = orderIds.slice(first, first + REFRESHED_AT_ONCE).filter(orderId => {
          const order = watched.get(orderId)
          return order && beat(orderId, order)
        })
        if (open.length > 0) await refreshSome(open)
        await setImmediate()
      }
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
